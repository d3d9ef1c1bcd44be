package oauth

import (
	"errors"
	"fmt"
	"net/http"
	"slices"

	"github.com/keystile/keystile/oauth/internal/clientdoc"
	"github.com/keystile/keystile/storage/client"
)

// Policies of ClientsConfig.Documents.
const (
	ClientsOpen   = "open"   // documents of all hosts but those that an operator denies
	ClientsListed = "listed" // of the listed hosts, and of those that an operator trusts
	ClientsOff    = "off"    // of none
)

// Policies of ClientsConfig.Registration.
const (
	registrationCapped = "capped"
	registrationOff    = "off"
)

// ClientsConfig says which applications that nobody registered here may ask users to sign in (decision 55).
//
// A client_id that begins with https:// is the URL of a client metadata document. Only an authorize request
// reads one, and the first request of a device; only after everything else about the request was found right;
// and only from hosts that this configuration and the operator admit. Token requests use the stored document,
// so a vendor that is away ends no session. Package internal/clientdoc says what a document must be.
//
// Such an application is public even if it proves itself by private_key_jwt: it has no secret here,
// client_credentials is not for it, and its challenge is always S256. It gets refresh tokens if its document
// names that grant type or no grant type at all.
type ClientsConfig struct {
	// Documents says from which hosts a client_id may be the URL of a metadata document:
	// ClientsOpen, ClientsListed or ClientsOff. "": ClientsOpen where the BaseURL is of a loopback
	// host, else ClientsListed.
	Documents string
	Hosts     []string // whose documents are admitted by ClientsListed, with a port if it is not 443; nil: ClientHosts()

	// Registration says whether applications may register themselves (RFC 7591): "capped", which is
	// the default, admits so many an hour and a day, and each ends after a day unless a user consents;
	// "off" admits none. Without a Consent it is always off.
	Registration string

	// AllowPrivate names what documents may be read from although it is not public: a CIDR, an
	// address or a host:port. Of a host that is named here an unlisted name may be used.
	AllowPrivate []string
	// Transport makes the requests for documents and keys, in place of one that dials public
	// addresses and those of AllowPrivate only. It has to check the addresses itself.
	Transport http.RoundTripper
}

// ClientHosts returns the hosts whose documents are admitted unless ClientsConfig.Hosts names
// others: those of well-known MCP clients.
func ClientHosts() []string {
	return []string{"claude.ai", "chatgpt.com", "vscode.dev", "zed.dev", "cursor.com", "opencode.ai", "goose-docs.ai",
		"insiders.vscode.dev", "github.com"}
}

// complete fills in what is missing for a service with a BaseURL, and reports all errors.
func (c *ClientsConfig) complete(baseURL string) error {
	var errs []error
	switch c.Documents {
	case "":
		c.Documents = ClientsListed
		if client.IsLoopback(baseURL) {
			c.Documents = ClientsOpen
		}
	case ClientsOpen, ClientsListed, ClientsOff:
	default:
		errs = append(errs, fmt.Errorf("Clients.Documents %q is none of open, listed, off", c.Documents))
	}
	switch c.Registration {
	case "":
		c.Registration = registrationCapped
	case registrationCapped, registrationOff:
	default:
		errs = append(errs, fmt.Errorf("Clients.Registration %q is neither capped nor off", c.Registration))
	}
	if c.Hosts == nil {
		c.Hosts = ClientHosts()
	}
	for _, host := range c.Hosts {
		if err := clientdoc.CheckHost(host); err != nil {
			errs = append(errs, fmt.Errorf("Clients.Hosts: %q: write a host in lower case, such as claude.ai: %w", host, err))
		}
	}
	c.Hosts = slices.Clone(c.Hosts)
	return errors.Join(errs...)
}
