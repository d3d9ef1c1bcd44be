package config

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/keystile/keystile/internal/netguard"
	"github.com/keystile/keystile/storage"
)

// OpenID is a provider that people may sign in with by OpenID Connect, or GitHub.
type OpenID struct {
	Preset       string // oidc, google, keycloak, entra or github
	Name, Label  string
	Issuer       string // of oidc and keycloak
	Tenant       string // of entra
	ID           string
	Secret       storage.Secret
	Scopes       []string // nil: those of the connector
	Domains      []string // nil: the provider's word is enough for everybody it knows
	SignUp       string   // closed, invitation or open; "": Config.SignUp
	AllowPrivate []string
	TrustEmail   bool // an address that the provider has verified is confirmed here
}

// presets are the providers, and what they are called where nothing else is said.
var presets = map[string]string{"oidc": "OpenID", "google": "Google", "keycloak": "Keycloak", "entra": "Microsoft",
	"github": "GitHub"}

var methodName = regexp.MustCompile(`^[a-z][a-z0-9-]{0,31}$`)

// Names of methods that are there already.
var takenMethods = []string{storage.LoginSelf, storage.LoginEmail, storage.LoginWX, storage.LoginQQ,
	storage.LoginAlipay, storage.LoginDouyin, "feishu", "wecom", "dingtalk"}

var openIDFields = []field[OpenID]{
	{"preset", func(o *OpenID, s string) error {
		if o.Preset = s; presets[s] == "" {
			return fmt.Errorf("it must be one of %s", strings.Join(slices.Sorted(maps.Keys(presets)), ", "))
		}
		return nil
	}},
	{"name", func(o *OpenID, s string) error {
		if o.Name = s; !methodName.MatchString(s) || slices.Contains(takenMethods, s) {
			return errors.New("it must be a letter of a to z and up to 31 of a to z, 0 to 9 and -, and no other way to sign in")
		}
		return nil
	}},
	{"label", func(o *OpenID, s string) error { o.Label = s; return nil }},
	{"issuer", func(o *OpenID, s string) error { o.Issuer = s; return nil }},
	{"tenant", func(o *OpenID, s string) error { o.Tenant = s; return nil }},
	{"id", func(o *OpenID, s string) error { o.ID = s; return nil }},
	{"secret", func(o *OpenID, s string) error { o.Secret = storage.NewSecret(s); return nil }},
	{"scopes", func(o *OpenID, s string) error {
		o.Scopes = strings.Fields(strings.ReplaceAll(s, ",", " "))
		return nil
	}},
	{"domains", func(o *OpenID, s string) error { o.Domains = words(strings.ToLower(s)); return nil }},
	{"signup", func(o *OpenID, s string) error {
		if o.SignUp = s; !slices.Contains(signUps, s) {
			return fmt.Errorf("it must be one of %s", strings.Join(signUps, ", "))
		}
		return nil
	}},
	{"trust_email", func(o *OpenID, s string) (err error) {
		if o.TrustEmail, err = strconv.ParseBool(s); err != nil {
			err = errors.New("it must be true or false")
		}
		return err
	}},
	{"allow_private", func(o *OpenID, s string) error {
		o.AllowPrivate = words(s)
		_, err := netguard.New(netguard.Config{Allow: o.AllowPrivate})
		return err
	}},
}

// openIDs reads a list of providers. Its complaints repeat no secret.
func (c *Config) setOpenIDs(s string) error {
	if s == "" {
		return nil
	}
	if !isList(s) {
		return errors.New("it must be a list of objects, each with preset, id and secret")
	}
	list, err := objects(s)
	if err != nil {
		return err
	}
	for _, fields := range list {
		o := OpenID{Preset: "oidc"}
		what := cmp.Or(fields["name"], fields["preset"], "oidc")
		if err := read(fields, what, &o, openIDFields); err != nil {
			return err
		}
		o.Name, o.Label = cmp.Or(o.Name, o.Preset), cmp.Or(o.Label, presets[o.Preset])
		if err := o.check(); err != nil {
			return fmt.Errorf("%q: %w", o.Name, err)
		}
		if slices.ContainsFunc(c.OpenID, func(other OpenID) bool { return other.Name == o.Name }) {
			return fmt.Errorf("%q is there twice; give each a name of its own", o.Name)
		}
		c.OpenID = append(c.OpenID, o)
	}
	return nil
}

// check refuses what lacks something, and what means nothing for the preset.
func (o OpenID) check() error {
	named := o.Preset == "oidc" || o.Preset == "keycloak"
	switch {
	case o.ID == "" || o.Secret.IsZero():
		return errors.New("give both id and secret; the provider's console shows them")
	case named && o.Issuer == "":
		return errors.New("give its issuer, such as https://id.example.com/realms/staff")
	case !named && o.Issuer != "":
		return fmt.Errorf("the issuer of %s is known; leave it out, or give the preset oidc", o.Preset)
	case o.Preset == "keycloak" && !strings.Contains(o.Issuer, "/realms/"):
		return errors.New("the issuer of Keycloak ends with /realms/ and the name of the realm")
	case (o.Preset == "entra") != (o.Tenant != ""):
		return errors.New("the preset entra has a tenant, its id, and no other preset has one")
	case o.Preset == "github" && (len(o.Scopes) > 0 || len(o.AllowPrivate) > 0):
		return errors.New("the preset github has no scopes and no allow_private")
	}
	return nil
}
