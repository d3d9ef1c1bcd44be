package oidc

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"github.com/keystile/keystile/internal/netguard"
	"github.com/keystile/keystile/internal/pattern"
	"github.com/keystile/keystile/oauth/signin/connector"
	"github.com/keystile/keystile/oauth/signin/connector/internal/pkce"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/groups"
)

// Google is the issuer of Google.
const Google = "https://accounts.google.com"

const entra = "https://login.microsoftonline.com/"

// Entra returns the issuer of a tenant of Microsoft Entra ID, by the tenant's id.
func Entra(tenant string) string { return entra + tenant + "/v2.0" }

// Config says how to make a connector.
type Config struct {
	Name  string // required: a letter of a to z and up to 31 more of a to z, 0 to 9 and the hyphen
	Label string // "": Name. "Sign in with" fits before it

	Issuer       string         // required: as the provider writes it, to the last slash
	ClientID     string         // required
	ClientSecret storage.Secret // required
	Scopes       []string       // nil: openid profile, and email with Domains or for an application that asks for it

	// Domains are those of whom to let in, by an address that the provider has verified; of Google,
	// those of a Workspace. nil: everybody the provider knows.
	Domains []string

	// TrustEmail treats an address that the provider has verified as confirmed here: its user may sign in with a
	// code that is sent there. The operator of the provider can then name any address.
	TrustEmail bool

	// GroupsClaim names the claim of the id_token, or else of userinfo, with the groups of a user at the provider: a list
	// of texts, or one text. GroupsMap has the name of a group here by each of those names; others are passed over. Both
	// or neither are given.
	GroupsClaim string
	GroupsMap   map[string]string

	// Mapped returns what holds in place of GroupsClaim and GroupsMap for a connector (its Name), or storage.ErrNotFound
	// where they hold. It is asked at each sign-in, and an error of it fails the sign-in. GroupMapping of *storage.Store
	// is one. nil: they always hold.
	Mapped func(ctx context.Context, connector string) (groups.Mapping, error)

	AllowPrivate []string     // what may be asked although it is private, as in netguard.Config
	Client       *http.Client // nil: our own. Another one must guard itself; it follows no redirects
}

var (
	nameShape   = pattern.Lazy(`^[a-z][a-z0-9-]{0,31}$`)
	scopeShape  = pattern.Lazy(`^[\x21\x23-\x5b\x5d-\x7e]+$`) // RFC 6749, section 3.3
	domainShape = pattern.Lazy(`^([a-z0-9-]+\.)+[a-z0-9-]+$`)
	tenantShape = pattern.Lazy(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)
)

// New makes a connector, or reports all errors of the Config. It asks the provider nothing yet.
func New(c Config) (connector.Connector, error) {
	var errs []error
	add := func(format string, args ...any) {
		errs = append(errs, fmt.Errorf("connector "+strings.ReplaceAll(c.Name, "%", "%%")+": "+format, args...))
	}
	if !nameShape().MatchString(c.Name) {
		add("Name: %q: give a letter of a to z and up to 31 of a to z, 0 to 9 and -", c.Name)
	}
	if err := checkIssuer(c.Issuer); err != nil {
		add("Issuer: %w", err)
	}
	if c.ClientID == "" || strings.ContainsFunc(c.ClientID, func(r rune) bool { return r < ' ' || r >= 0x7f }) {
		add("ClientID: %q is none; the provider's console shows it", c.ClientID)
	}
	if c.ClientSecret.IsZero() {
		add("ClientSecret: give the one that the provider's console shows beside the id; applications without one are not " +
			"supported")
	}
	for _, s := range c.Scopes {
		if !scopeShape().MatchString(s) {
			add("Scopes: %q is none", s)
		}
	}
	for _, d := range c.Domains {
		if !domainShape().MatchString(d) {
			add("Domains: %q is none; write it like example.com", d)
		}
	}
	if len(c.Domains) > 0 && strings.HasPrefix(c.Issuer, entra) {
		add("Domains: Entra does not say whether it has verified an address; the tenant in the issuer says who may sign in")
	}
	if c.TrustEmail && strings.HasPrefix(c.Issuer, entra) {
		add("TrustEmail: Entra does not say whether it has verified an address")
	}
	if err := groups.CheckMapping(c.GroupsClaim, c.GroupsMap); err != nil {
		add("GroupsClaim, GroupsMap: %w", err)
	}
	guard, err := netguard.New(netguard.Config{Allow: c.AllowPrivate})
	if err != nil {
		add("AllowPrivate: %w", err)
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	if c.Client == nil {
		c.Client = guard.Client(finishTimeout)
	}
	return newUpstream(c), nil
}

func newUpstream(c Config) *upstream {
	if len(c.Scopes) == 0 {
		c.Scopes = []string{"openid", "profile"}
	}
	if !slices.Contains(c.Scopes, "openid") {
		c.Scopes = append([]string{"openid"}, c.Scopes...)
	}
	if len(c.Domains) > 0 && !slices.Contains(c.Scopes, "email") {
		c.Scopes = append(slices.Clone(c.Scopes), "email")
	}
	c.Label = cmp.Or(c.Label, c.Name)
	client := bounded(c.Client)
	gated := *client
	gated.Transport = &keyFetchLimit{next: client.Transport}
	return &upstream{
		Config: c, client: client, gated: &gated, turn: make(chan struct{}, 1),
		visits: pkce.New(c.ClientSecret, c.Issuer, c.ClientID),
	}
}

func checkIssuer(issuer string) error {
	u, err := netguard.CheckURL(issuer)
	switch {
	case strings.ContainsAny(issuer, "@?#"):
		return errors.New("it must have no user, no query and no fragment")
	case err != nil:
		return err
	case u.Scheme == "http" && !onThisMachine(u):
		return errors.New("it must be https; http is for an issuer on this machine")
	case strings.HasPrefix(issuer, entra):
		tenant, rest, _ := strings.Cut(issuer[len(entra):], "/")
		if !tenantShape().MatchString(tenant) || rest != "v2.0" {
			return fmt.Errorf("%q is no tenant of Entra: give the id that its overview shows, as in %s; common and "+
				"organizations would let every tenant in", tenant, Entra("00000000-0000-0000-0000-000000000000"))
		}
	}
	return nil
}

func onThisMachine(u *url.URL) bool {
	addr, err := netip.ParseAddr(u.Hostname())
	return u.Hostname() == "localhost" || err == nil && addr.IsLoopback()
}
