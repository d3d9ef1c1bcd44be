package adminapi

import (
	"encoding/json"
	"errors"
	"slices"

	"github.com/keystile/keystile/internal/admin/appacts"
	"github.com/keystile/keystile/internal/rawjson"
	"github.com/keystile/keystile/storage/claim"
)

// Fields that the owner of an application may send. The tier is a matter of billing.
var (
	Changeable = []string{"name", "domains", "redirect_uris", "backchannel_logout_uri", "id_token_alg",
		"legacy_success_code", "brand", "mfa", "dpop"}
	Creatable = append([]string{"public"}, Changeable...)
)

// App reads what an application is made of.
func (f Fields) App() (n appacts.NewApp, err error) {
	n.Change, err = f.AppChange()
	return n, errors.Join(err, f.Read("public", "true or false", &n.Public), f.Read("tier", "a text", &n.Tier))
}

// AppChange reads what changes of an application.
func (f Fields) AppChange() (c appacts.Change, err error) {
	err = errors.Join(
		f.Read("name", "a text", &c.Name),
		f.Texts("domains", &c.Domains.Instead),
		f.Texts("redirect_uris", &c.RedirectURIs.Instead),
		f.Read("backchannel_logout_uri", "a text", &c.BackchannelLogoutURI),
		f.Read("id_token_alg", "a text", &c.IDTokenAlg),
		f.Read("mfa", "a text", &c.MFA),
		f.Read("dpop", "a text", &c.DPoP),
		f.Read("legacy_success_code", "0 or 1", &c.LegacySuccessCode),
		f.readBrand(&c.Brand),
		f.Read("first_party", "true or false", &c.FirstParty), f.Read("disabled", "true or false", &c.Disabled),
		f.Read("allow_http_redirect", "true or false", &c.AllowHTTPRedirect),
		f.Read("forbid_plain", "true or false", &c.ForbidPlain),
		f.Read("owner", "a text", &c.Owner),
		f.Texts("held", &c.Held),
		f.Texts("allow", &c.Allow), f.Texts("deny", &c.Deny),
		f.Texts("group_filter", &c.Learns.GroupFilter),
		f.Read("groups_in_access_token", "true or false", &c.Learns.GroupsInAccessToken),
		f.readClaims(&c.Learns.Claims),
		f.readKeys(&c.Proves.Keys), f.Read("jwks_uri", "a text", &c.Proves.KeysURL),
		f.Read("keep_secret", "true or false", &c.Proves.KeepSecret),
		f.Read("exchange", "true or false", &c.Proves.Exchange), f.Texts("exchange_for", &c.Proves.ExchangeFor),
	)
	slices.Sort(c.Domains.Instead)
	return c, err
}

// readClaims reads a list of claim rules. A member that is not known would be a rule with less to it than was meant.
func (f Fields) readClaims(into *[]claim.Rule) error {
	raw := f["claims"]
	if raw == nil {
		return nil
	}
	rules, err := claim.Parse(raw)
	if err != nil {
		return BadBody.Saying(err.Error())
	}
	*into = rules
	return nil
}

// readKeys reads a JSON Web Key Set; null is none.
func (f Fields) readKeys(into **string) error {
	raw := f["jwks"]
	switch {
	case raw == nil:
	case string(raw) == "null":
		*into = new("")
	case raw[0] == '{':
		*into = new(string(raw))
	default:
		return BadBody.Saying("jwks is no JSON Web Key Set, and not null")
	}
	return nil
}

// readBrand reads a whole brand: what is not in it is none.
func (f Fields) readBrand(into *appacts.Brand) error {
	raw := f["brand"]
	switch {
	case raw == nil:
		return nil
	case raw[0] != '{':
		return BadBody.Saying("brand is not an object of name, logo and color")
	}
	parts := map[string]*string{"name": new(string), "logo": new(string), "color": new(string)}
	for name, value := range rawjson.Members(raw) {
		part := parts[string(name)]
		if part == nil || value[0] != '"' {
			return BadBody.Saying("brand is not an object of name, logo and color, each a text")
		}
		*part = string(rawjson.Unquote(json.RawMessage(value)))
	}
	*into = appacts.Brand{Name: parts["name"], Logo: parts["logo"], Color: parts["color"]}
	return nil
}
