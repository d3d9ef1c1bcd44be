package mcpcall

import (
	"crypto/sha256"
	"encoding/json"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/keystile/keystile/internal/netguard"
	"github.com/keystile/keystile/internal/pattern"
	"github.com/keystile/keystile/internal/restcall"
	"github.com/keystile/keystile/internal/toolschema"
	"github.com/keystile/keystile/storage"
)

// Upstream holds the URL of an MCP endpoint and its credential.
type Upstream struct {
	URL      string         // http or https; its query is kept
	Member   string         // the capability's name, the prefix of its tools' names
	AuthType string         // none or "", bearer, basic, api_key
	AuthIn   string         // of api_key: header or query
	AuthName string         // of api_key: the header's or the parameter's name
	Secret   storage.Secret // the token, user:password, or the key
	Timeout  time.Duration  // of a call; 0: Config.CallTimeout

	Headers map[string]storage.Secret // sent beside the credential
}

// target is a checked Upstream. It contains the secret.
type target struct {
	key        [sha256.Size]byte // of the URL and the credential
	url        url.URL
	credential restcall.Credential
}

func (u Upstream) target() (*target, error) {
	to, err := netguard.CheckURL(u.URL)
	if err != nil {
		return nil, err
	}
	t := &target{url: *to}
	rest := restcall.Upstream{BaseURL: u.URL, AuthType: u.AuthType, AuthIn: u.AuthIn, AuthName: u.AuthName,
		Secret: u.Secret, Headers: u.Headers}
	if t.credential, err = rest.Credential(); err != nil {
		return nil, err
	}
	if t.credential.Query != "" {
		t.url.RawQuery = withKey(t.url.RawQuery, t.credential.Query, t.credential.Text)
	}
	named, _ := json.Marshal(append([]string{u.URL}, t.credential.Parts()...)) // strings cannot fail
	t.key = sha256.Sum256(named)
	return t, nil
}

// withKey sets a parameter of a query and does not change the others.
func withKey(query, name, secret string) string {
	pairs := slices.DeleteFunc(strings.Split(query, "&"), func(pair string) bool {
		key, _, _ := strings.Cut(pair, "=")
		plain, _ := url.QueryUnescape(key)
		return pair == "" || plain == name
	})
	return strings.Join(append(pairs, url.QueryEscape(name)+"="+url.QueryEscape(secret)), "&")
}

// addressPattern matches text that may be, or contain, an address: a URL, or a run of the
// characters of IP addresses.
var addressPattern = pattern.Lazy(`(?i)https?://[^\s"'<>]+|[0-9a-f:.]*[:.][0-9a-f:.]*[0-9a-f]`)

// redactAddresses returns a text of the upstream in a form that may be quoted: short, one line,
// and without addresses, its own or those of its internal network.
func (t *target) redactAddresses(text string) string {
	own := regexp.MustCompile(`(?i)` + regexp.QuoteMeta(t.url.Host) + `|` + regexp.QuoteMeta(t.url.Hostname()))
	text = own.ReplaceAllString(toolschema.Text(text), "[address]")
	text = addressPattern().ReplaceAllStringFunc(text, func(s string) string {
		if strings.Contains(s, "://") || isAddress(s) || isAddress(strings.Trim(s, ".:")) {
			return "[address]"
		}
		return s
	})
	if runes := []rune(text); len(runes) > maxQuoted {
		text = string(runes[:maxQuoted]) + "..."
	}
	return text
}

func isAddress(s string) bool {
	_, err := netip.ParseAddr(s)
	_, portErr := netip.ParseAddrPort(s)
	return err == nil || portErr == nil
}

// maxQuoted bounds a quoted text of an upstream, in characters.
const maxQuoted = 300
