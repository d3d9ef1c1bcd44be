package oauth

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/keystile/keystile/internal/md5sign"
	"github.com/keystile/keystile/internal/page"
	"github.com/keystile/keystile/internal/reply"
	"github.com/keystile/keystile/storage"
)

// authorizeNames holds the parameters of authorize, also those that are refused. A signed text
// must not hide one of them in another.
var authorizeNames = []string{
	"response_type", "client_id", "redirect_uri", "state", "scope", "code_challenge", "code_challenge_method", "nonce",
	"prompt", "max_age", "acr_values",
	"login_hint", "id_token_hint", "ui_locales", "resource", "dpop_jkt", "response_mode", "request", "request_uri",
	"registration", "timestamp", "sign", "login_type",
	paramTicket, paramConsent, paramHint, paramLed, paramLogin,
}

// checkSign verifies an authorize request that an SDK has signed (protocol 4.1, 5), before any
// other check: the signature covers every parameter as it was sent, also those that are empty or
// sent twice. The application is checked later.
func (a *authorizer) checkSign(ctx context.Context, text string) error {
	sent, err := splitForm(text)
	if err != nil || !md5sign.IsSigned(sent) {
		return nil // parseForm says what is wrong with it
	}
	app, missing := a.store.App(ctx, sent.Get("client_id"))
	if missing != nil && !errors.Is(missing, storage.ErrNotFound) {
		return missing
	}
	switch err := md5sign.Check(app, sent, time.Now(), authorizeNames...); {
	case errors.Is(err, md5sign.ErrTimestamp):
		return badTimestamp
	case errors.Is(err, md5sign.ErrRepeated):
		return badRepeat
	case errors.Is(err, md5sign.ErrAmbiguous):
		return badAmbiguous
	case err != nil && missing == nil:
		return badSign
	}
	return nil
}

// withoutSignature returns the request without sign and timestamp, for sign-in to return to: the
// signature has been verified, and a sign-in may take longer than the five minutes it is good for.
func withoutSignature(r *http.Request) *http.Request {
	return without(r, "sign", "timestamp")
}

// without returns an authorize request without some of its parameters.
func without(r *http.Request, names ...string) *http.Request {
	bare := *r
	at := *r.URL
	bare.URL, bare.PostForm = &at, maps.Clone(r.PostForm)
	for _, name := range names {
		bare.PostForm.Del(name)
	}
	parts := slices.DeleteFunc(strings.Split(at.RawQuery, "&"), func(part string) bool {
		name, _, _ := strings.Cut(part, "=")
		name, err := url.QueryUnescape(name)
		return err == nil && slices.Contains(names, name)
	})
	at.RawQuery = strings.ReplaceAll(strings.Join(parts, "&"), ";", "%3B") // which others may take for a &
	return &bare
}

// failAuthorize shows a failure as a page. A failure of the signature is for the developer of the
// SDK: JSON, unless the request accepts HTML.
func (a *authorizer) failAuthorize(w http.ResponseWriter, r *http.Request, f *reply.Failure) {
	switch {
	case f.Errcode == 0:
		a.failPage(w, r, f)
	case strings.Contains(r.Header.Get("Accept"), "text/html"):
		page.Fail(w, r, f.Status, "This request cannot go on", "errcode "+strconv.Itoa(f.Errcode)+": "+f.Msg)
	default:
		reply.Fail(a.c.Log, w, r, f, nil)
	}
}
