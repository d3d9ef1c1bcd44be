package oauth_test

import (
	"encoding/base64"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/keystile/keystile/internal/handle"
	"github.com/keystile/keystile/storage"
)

// basically sends a form whose sender says in the Authorization header who it is.
func (h *fixture) basically(path, authorization string, pairs ...string) answer {
	h.Helper()
	r := httptest.NewRequest("POST", path, strings.NewReader(form(pairs...).Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Authorization", authorization)
	return h.answer(h.serve(r))
}

func basic(id, secret string) string {
	return "Basic " + base64.StdEncoding.EncodeToString([]byte(id+":"+secret))
}

// An application may send its secret in the header as well as in the form (decision 88).
func TestApplicationAuthenticatesByBasicToo(t *testing.T) {
	h := newFixture(t)
	id, secret := h.app.ID, h.app.AppKey().Reveal()
	mine := basic(id, secret)
	access := h.basically("/oauth/token", mine, "grant_type", "client_credentials").tokens(t).text("access_token")
	h.basically("/oauth/token", "basic  "+mine[len("Basic "):], "grant_type", "client_credentials").tokens(t)
	h.basically("/oauth/token", mine, "grant_type", "client_credentials", "client_id", id).tokens(t)
	h.basically("/oauth/token", mine, "grant_type", "authorization_code", "code", h.code(), "redirect_uri",
		redirect).tokens(t)
	if a := h.basically("/oauth/introspect", mine, "token", access); a.status != 200 || a.body["active"] != true {
		t.Errorf("introspection by Basic = %d %v", a.status, a.body)
	}
	if a := h.basically("/oauth/revoke", mine, "token", access); a.status != 200 {
		t.Errorf("revocation by Basic = %d %v", a.status, a.body)
	}
	if a := h.basically("/oauth/introspect", mine, "token", access); a.body["active"] != false {
		t.Errorf("a token that was revoked by Basic is active: %v", a.body)
	}
}

// Another server that an application moved here from may have drawn it.
func TestSecretInBasicMayBeginWithSlashes(t *testing.T) {
	h := newFixture(t)
	const secret = "//8BAgMEBQYHCAkKCwwNDg8QERITFBUW"
	h.app.Secrets = []storage.AppSecret{{Secret: storage.NewSecret(secret)}}
	h.app = must(h.store.SaveApp(t.Context(), h.app))(t)
	h.basically("/oauth/token", basic(h.app.ID, secret), "grant_type", "client_credentials").tokens(t)
}

func TestPublicApplicationHasNoSecretInBasicEither(t *testing.T) {
	h := newFixture(t)
	h.app.Public, h.app.Secrets = true, nil
	h.app = must(h.store.SaveApp(t.Context(), h.app))(t)
	alone := "Basic " + base64.StdEncoding.EncodeToString([]byte(h.app.ID)) // as Okta's client sends it
	for _, authorization := range []string{basic(h.app.ID, ""), basic(url.QueryEscape(h.app.ID), ""), alone} {
		code := h.code(challenge...)
		h.basically("/oauth/token", authorization, "grant_type", "authorization_code", "code", code, "redirect_uri", redirect,
			"code_verifier", verifier).tokens(t)
	}
	h.basically("/oauth/token", basic(h.app.ID, ""), "grant_type", "client_credentials").wants(t, "its own token", 400,
		400, "unauthorized_client")
}

func TestBasicThatIsWrongIsRefused(t *testing.T) {
	h := newFixture(t)
	id, secret := h.app.ID, h.app.AppKey().Reveal()
	other := handle.NewAppID()
	for what, c := range map[string]struct {
		authorization string
		pairs         []string
		status        int
		name          string
	}{
		"a wrong secret":              {basic(id, "wrong"), nil, 401, "invalid_client"},
		"no secret":                   {basic(id, ""), nil, 401, "invalid_client"},
		"an application that is none": {basic(other, secret), nil, 401, "invalid_client"},
		"no client_id":                {basic("", secret), nil, 401, "invalid_client"},
		"no colon": {"Basic " + base64.StdEncoding.EncodeToString([]byte(id)), nil, 401,
			"invalid_client"},
		"no base64":                     {"Basic " + id + ":" + secret, nil, 401, "invalid_client"},
		"no UTF-8":                      {basic(id+"\xff", secret), nil, 401, "invalid_client"},
		"a zero byte":                   {basic(id+"%00", secret), nil, 401, "invalid_client"},
		"nothing":                       {"Basic", nil, 401, "invalid_client"},
		"another scheme":                {"Bearer " + secret, nil, 401, "invalid_client"},
		"the secret in both":            {basic(id, secret), []string{"client_secret", secret}, 400, "invalid_request"},
		"another client_id in the form": {basic(id, secret), []string{"client_id", other}, 400, "invalid_request"},
		"an assertion in the form":      {basic(id, secret), []string{"client_assertion", "x"}, 400, "invalid_request"},
		"a wrong one, and a good one beside": {basic(id, "wrong"), []string{"client_id", id, "client_secret", secret}, 400,
			"invalid_request"},
	} {
		a := h.basically("/oauth/token", c.authorization, append(c.pairs, "grant_type", "client_credentials")...)
		a.wants(t, what, c.status, c.status, c.name)
		if said := a.header.Get("WWW-Authenticate"); (c.status == 401) != strings.HasPrefix(said, "Basic ") {
			t.Errorf("%s: WWW-Authenticate is %q", what, said)
		}
	}
}

// Guesses at a secret are stopped as soon by Basic as in the form.
func TestGuessesByBasicCountAsThoseInTheForm(t *testing.T) {
	h := newFixture(t)
	tries := func(send func() answer) (n int) {
		for n = 0; send().status == 401 && n < 1000; n++ {
		}
		return n
	}
	inForm := tries(func() answer { return h.token("grant_type", "client_credentials", "client_secret", "wrong") })
	h = newFixture(t)
	byBasic := tries(func() answer {
		return h.basically("/oauth/token", basic(h.app.ID, "wrong"), "grant_type", "client_credentials")
	})
	if inForm == 0 || inForm == 1000 || byBasic != inForm {
		t.Errorf("%d guesses by Basic, %d in the form", byBasic, inForm)
	}
}
