package oauth

import (
	"net/http"
	"net/url"

	"github.com/keystile/keystile/storage"
)

// paramHint marks an authorize request whose id_token_hint names somebody, once it has led to a page of ours. Whoever
// else signs in there does not satisfy it, and is not asked for ever. It needs no proof: whoever forges it only makes
// the provider answer login_required in place of asking.
const (
	paramHint = "keystile_hint"
	hintAsked = "asked"
)

// hinted returns the sub of the user whom the id_token_hint of an application names, or "". The id_token may have
// expired. One of another issuer, of another application or with a wrong signature is passed over: what an application
// was not given tells nothing of whom it means, and must not tell it whether that user is here.
func (s *Server) hinted(form url.Values, app storage.App) string {
	hint := form.Get("id_token_hint")
	if hint == "" {
		return ""
	}
	sub, err := s.tokens.keys.VerifyID(hint, s.issuer, app)
	if err != nil {
		return ""
	}
	return sub
}

// carried returns an authorize request as the pages carry it that lead back to it: without what is settled, and without
// an id_token_hint that was passed over, which may be too long for them.
func (s *Server) carried(r *http.Request, app storage.App, form url.Values) *http.Request {
	bare := withoutSignature(r)
	switch {
	case !form.Has("id_token_hint"):
	case s.hinted(form, app) == "":
		bare = without(bare, "id_token_hint")
	case !form.Has(paramHint) && bare.Method == http.MethodPost:
		bare.PostForm.Set(paramHint, hintAsked)
	case !form.Has(paramHint):
		bare.URL.RawQuery += "&" + paramHint + "=" + hintAsked
	}
	return bare
}
