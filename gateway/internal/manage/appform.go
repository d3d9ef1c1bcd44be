package manage

import (
	"encoding/json"
	"errors"
	"slices"

	"github.com/keystile/keystile/internal/rawjson"
	"github.com/keystile/keystile/storage"
)

// Fields that the owner of an application may send. The tier is a matter of billing.
var (
	Changeable = []string{"name", "domains", "redirect_uris", "backchannel_logout_uri", "id_token_alg", "legacy_success_code", "brand", "mfa"}
	Creatable  = append([]string{"public"}, Changeable...)
)

// Amend reads what was sent into an application. Lists and the brand are replaced, never
// written to: an earlier copy stays as it was.
func (f Fields) Amend(a *storage.App) error {
	var errs []error
	complain := func(err error) {
		if err != nil {
			errs = append(errs, err)
		}
	}
	complain(f.Read("name", "a text", &a.Name))
	complain(f.Texts("domains", &a.Domains))
	complain(f.Texts("redirect_uris", &a.RedirectURIs))
	complain(f.Read("backchannel_logout_uri", "a text", &a.BackchannelLogoutURI))
	complain(f.Read("id_token_alg", "a text", &a.IDTokenAlg))
	complain(f.Read("mfa", "a text", &a.MFA))
	complain(f.Read("public", "true or false", &a.Public))
	if code := 0; f["legacy_success_code"] != nil {
		complain(f.Read("legacy_success_code", "0 or 1", &code))
		a.LegacySuccessCode = &code
	}
	if raw := f["brand"]; raw != nil {
		complain(readBrand(raw, a))
	}
	if f["domains"] != nil {
		for i, typed := range a.Domains {
			normal, err := storage.NormalizeDomain(typed)
			if err != nil {
				complain(BadBody.Saying(err.Error()))
				continue
			}
			a.Domains[i] = normal
		}
		slices.Sort(a.Domains)
		a.Domains = slices.Compact(a.Domains)
	}
	return errors.Join(errs...)
}

// AmendNew is Amend for a new application.
func (f Fields) AmendNew(a *storage.App) error {
	if err := f.Amend(a); err != nil {
		return err
	}
	if len(a.Domains) == 0 && len(a.RedirectURIs) == 0 {
		return BadBody.Saying("domains is missing: list the hosts that users may be sent back to, such as app.example.com; " +
			"a program on a device may have redirect_uris of a private-use scheme instead")
	}
	return nil
}

// readBrand reads a whole brand; an empty one is none.
func readBrand(raw json.RawMessage, a *storage.App) error {
	if raw[0] != '{' {
		return BadBody.Saying("brand is not an object of name, logo and color")
	}
	var b storage.Brand
	for name, value := range rawjson.Members(raw) {
		into := map[string]*string{"name": &b.Name, "logo": &b.Logo, "color": &b.Color}[string(name)]
		if into == nil || value[0] != '"' {
			return BadBody.Saying("brand is not an object of name, logo and color, each a text")
		}
		*into = string(rawjson.Unquote(value))
	}
	if a.Brand = &b; b == (storage.Brand{}) {
		a.Brand = nil
	}
	return nil
}
