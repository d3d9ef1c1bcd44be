package gateway

import (
	"encoding/json"
	"errors"
	"slices"

	"github.com/keystile/keystile/internal/rawjson"
	"github.com/keystile/keystile/storage"
)

// What an owner may say of an application. The tier is a matter of billing.
var (
	changeable = []string{"name", "domains", "redirect_uris", "id_token_alg", "legacy_success_code", "brand"}
	creatable  = append([]string{"public"}, changeable...)
)

// amend reads what was sent into an application.
func (f fields) amend(a *storage.App) error {
	var errs []error
	complain := func(err error) {
		if err != nil {
			errs = append(errs, err)
		}
	}
	complain(f.read("name", "a text", &a.Name))
	complain(f.texts("domains", &a.Domains))
	complain(f.texts("redirect_uris", &a.RedirectURIs))
	complain(f.read("id_token_alg", "a text", &a.IDTokenAlg))
	complain(f.read("public", "true or false", &a.Public))
	if code := 0; f["legacy_success_code"] != nil {
		complain(f.read("legacy_success_code", "0 or 1", &code))
		a.LegacySuccessCode = &code
	}
	if raw := f["brand"]; raw != nil {
		complain(readBrand(raw, a))
	}
	if f["domains"] != nil {
		for i, typed := range a.Domains {
			normal, err := storage.NormalizeDomain(typed)
			if err != nil {
				complain(badBody.Saying(err.Error()))
				continue
			}
			a.Domains[i] = normal
		}
		slices.Sort(a.Domains)
		a.Domains = slices.Compact(a.Domains)
	}
	return errors.Join(errs...)
}

// readBrand reads a brand, whole; one without anything in it is none.
func readBrand(raw json.RawMessage, a *storage.App) error {
	if raw[0] != '{' {
		return badBody.Saying("brand is not an object of name, logo and color")
	}
	var b storage.Brand
	for name, value := range rawjson.Members(raw) {
		into := map[string]*string{"name": &b.Name, "logo": &b.Logo, "color": &b.Color}[string(name)]
		if into == nil || value[0] != '"' {
			return badBody.Saying("brand is not an object of name, logo and color, each a text")
		}
		*into = string(rawjson.Unquote(value))
	}
	if a.Brand = &b; b == (storage.Brand{}) {
		a.Brand = nil
	}
	return nil
}
