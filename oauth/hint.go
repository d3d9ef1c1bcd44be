package oauth

import (
	"context"
	"errors"
	"net/http"
	"net/url"

	"github.com/keystile/keystile/storage"
)

// paramHint marks an authorize request whose id_token_hint names a user, once it has led to a sign-in page. Another
// user who signs in there does not satisfy the hint, and is not asked again and again. The mark needs no proof:
// forging it only makes the provider answer login_required in place of asking.
const (
	paramHint = "keystile_hint"
	hintAsked = "asked"
)

// hinted returns the sub of the user whom the id_token_hint of an application names, or "". The id_token may have
// expired. One of another issuer, of another application or with a wrong signature is passed over: an application must
// not learn from an id_token that it was not given whether the user of it is here. An application whose id_tokens are
// signed with its secret can write one itself, so it is believed of users that it has met alone.
//
// The sign-in page says that the application expects a certain user and not whom: the browser may be another
// person's. If another user signs in there, the application gets login_required: it knows whom to ask.
func (k *core) hinted(r *http.Request, form url.Values, app storage.App) string {
	hint := form.Get("id_token_hint")
	if hint == "" {
		return ""
	}
	sub, err := k.tokens.keys.VerifyID(hint, k.issuer, app)
	if err != nil || !k.met(r.Context(), app, sub) {
		return ""
	}
	return sub
}

// met reports whether an application has been told of a user before.
func (k *core) met(ctx context.Context, app storage.App, sub string) bool {
	_, err := k.tokens.c.Store.OpenID(ctx, app.ID, sub)
	return !errors.Is(err, storage.ErrNotFound)
}

// carried returns an authorize request as the pages carry it that lead back to it: without what is settled, and without
// an id_token_hint that was passed over, which may be too long for them.
func (a *authorizer) carried(r *http.Request, app storage.App, form url.Values) *http.Request {
	bare := withoutSignature(r)
	switch {
	case !form.Has("id_token_hint"):
	case a.hinted(r, form, app) == "":
		bare = without(bare, "id_token_hint")
	case !form.Has(paramHint) && bare.Method == http.MethodPost:
		bare.PostForm.Set(paramHint, hintAsked)
	case !form.Has(paramHint):
		bare.URL.RawQuery += "&" + paramHint + "=" + hintAsked
	}
	return bare
}
