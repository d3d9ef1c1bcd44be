package config

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/keystile/keystile/internal/pattern"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/groups"
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
	GroupsClaim  string
	GroupsMap    map[string]string // from the names of groups at the provider to those here
}

// presets are the providers, and what they are called where nothing else is said.
var presets = map[string]string{"oidc": "OpenID", "google": "Google", "keycloak": "Keycloak", "entra": "Microsoft",
	"github": "GitHub"}

var methodName = pattern.Lazy(`^[a-z][a-z0-9-]{0,31}$`)

// Names of methods that are there already.
var takenMethods = []string{storage.LoginSelf, storage.LoginEmail, storage.LoginWX, storage.LoginQQ,
	storage.LoginAlipay, storage.LoginDouyin, "feishu", "wecom", "dingtalk"}

// fields are the members of an object that describes a provider.
func (o *OpenID) fields() []field {
	return []field{
		{"preset", choice(&o.Preset, slices.Sorted(maps.Keys(presets))...)},
		{"name", func(s string) error {
			if o.Name = s; !methodName().MatchString(s) || slices.Contains(takenMethods, s) {
				return errors.New("it must be a letter of a to z and up to 31 of a to z, 0 to 9 and -, and no other way to sign in")
			}
			return nil
		}},
		{"label", maybe(text(&o.Label))}, {"issuer", maybe(text(&o.Issuer))}, {"tenant", maybe(text(&o.Tenant))},
		{"id", maybe(text(&o.ID))}, {"secret", hidden(&o.Secret)},
		{"scopes", func(s string) error {
			o.Scopes = strings.Fields(strings.ReplaceAll(s, ",", " "))
			return nil
		}},
		{"domains", func(s string) error { o.Domains = words(strings.ToLower(s)); return nil }},
		{"signup", choice(&o.SignUp, signUps...)}, {"trust_email", boolean(&o.TrustEmail)},
		{"allow_private", private(&o.AllowPrivate)}, {"groups_claim", maybe(text(&o.GroupsClaim))},
		{"groups_map", func(s string) error {
			if json.Unmarshal([]byte(s), &o.GroupsMap) != nil {
				return errors.New("it must be an object, with the name of a group here by that of each group there")
			}
			return nil
		}},
	}
}

// setOpenIDs reads a list of providers. Its complaints repeat no secret.
func (c *Config) setOpenIDs(s string) error {
	if s == "" {
		return nil
	}
	if !isList(s) {
		return errors.New("it must be a list of objects, each with preset, id and secret")
	}
	list, err := objects(s, "groups_map")
	if err != nil {
		return err
	}
	for _, given := range list {
		o := OpenID{Preset: "oidc"}
		what := cmp.Or(given["name"], given["preset"], "oidc")
		if err := given.read(what, o.fields()); err != nil {
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
	case o.Preset == "github" && (len(o.Scopes) > 0 || len(o.AllowPrivate) > 0 || o.GroupsClaim != ""):
		return errors.New("the preset github has no scopes, no allow_private and no groups_claim")
	}
	return groups.CheckMapping(o.GroupsClaim, o.GroupsMap)
}
