package oauth_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"testing"

	"github.com/keystile/keystile/oauth"
	"github.com/keystile/keystile/storage"
)

// fakeConsent is a Consent whose answers the test sets.
type fakeConsent struct {
	allowed bool
	less    string // what is granted in place of what is wanted, if not ""
	err     error
	once    int      // how often AllowedOnce says yes
	asked   []string // the scopes
	query   url.Values
}

func (c *fakeConsent) Allowed(_ context.Context, _ storage.App, _, scope string) (string, bool, error) {
	if c.less != "" {
		scope = c.less
	}
	return scope, c.allowed, c.err
}

func (c *fakeConsent) AllowedOnce(_ context.Context, _ storage.App, _, scope string) (string, bool, error) {
	c.once--
	return scope, c.once >= 0, c.err
}

func (c *fakeConsent) AskConsent(w http.ResponseWriter, r *http.Request, _ storage.App, _ storage.Session,
	scope string) error {
	c.asked, c.query = append(c.asked, scope), r.URL.Query()
	w.Write([]byte("may it?"))
	return nil
}

func fixtureWithConsent(t *testing.T) (*fixture, *fakeConsent) {
	c := &fakeConsent{}
	return newFixture(t, func(o *oauth.Config) { o.Consent, o.Log = c, quiet }), c
}

func TestClientIsNotWrittenBeforeTheUserConsents(t *testing.T) {
	h, c := fixtureWithConsent(t)
	calls := h.calls.during(func() {
		if w := h.authorize("scope", "profile unknown email profile"); w.Code != 200 || w.Body.String() != "may it?" {
			t.Errorf("authorize = %d %s, want to be asked", w.Code, w.Body)
		}
	})
	if calls["Put"]+calls["Issue"] != 0 || len(c.asked) != 1 || c.asked[0] != "profile email" {
		t.Errorf("writes %v, asked %q; want none, and what would be granted", calls, c.asked)
	}
	if _, err := h.store.OpenID(t.Context(), h.app.ID, h.user.Sub); !errors.Is(err, storage.ErrNotFound) {
		t.Errorf("they have met: %v", err)
	}
	c.allowed = true
	h.exchange(h.code()).tokens(t)
}

func TestVisitorSignsInBeforeConsentIsRequested(t *testing.T) {
	h, c := fixtureWithConsent(t)
	h.browser.session = nil
	h.authorize()
	if h.browser.prompts != 1 || c.asked != nil {
		t.Errorf("asked to sign in %d times, to consent %q", h.browser.prompts, c.asked)
	}
}

func TestFirstPartyApplicationNeedsConsentOnlyIfItRequestsIt(t *testing.T) {
	h, c := fixtureWithConsent(t)
	h.app.FirstParty = true
	h.app = h.register(h.app)
	h.code()
	h.code("prompt", "none")
	if h.authorize("prompt", "consent"); len(c.asked) != 1 {
		t.Errorf("asked %d times, want once: for prompt=consent", len(c.asked))
	}
}

func TestPromptConsentRequestsConsentAgain(t *testing.T) {
	h, c := fixtureWithConsent(t)
	c.allowed = true
	h.code()
	if h.authorize("prompt", "consent"); len(c.asked) != 1 {
		t.Errorf("asked %d times, want once", len(c.asked))
	}
}

func TestDenialIsCheckedLikeTheRequestItBelongsTo(t *testing.T) {
	h, c := fixtureWithConsent(t)
	for promise, test := range map[string]struct {
		pairs []string
		want  string
	}{
		"a no":                      {nil, "https://app.example.com/cb?error=access_denied&"},
		"a no of who has consented": {[]string{"prompt", "consent"}, "https://app.example.com/cb?error=access_denied&"},
		"of a wrong request": {[]string{"response_type", "token"},
			"https://app.example.com/cb?error=unsupported_response_type&"},
		"to another site":        {[]string{"redirect_uri", "https://evil.example/"}, ""},
		"to another application": {[]string{"client_id", "ksnobody"}, ""},
	} {
		w := h.authorize(append(test.pairs, "keystile_consent", "denied")...)
		if to := w.Header().Get("Location"); !strings.HasPrefix(to, test.want) || (to == "") != (test.want == "") {
			t.Errorf("%s: %d to %q, want %q", promise, w.Code, to, test.want)
		}
	}
	if c.asked != nil {
		t.Errorf("asked %q", c.asked)
	}
	h = newFixture(t)
	h.code("keystile_consent", "denied") // without a Consent the parameter is one of many that mean nothing
}

func TestConsentThatCannotBeReadGrantsNothing(t *testing.T) {
	h, c := fixtureWithConsent(t)
	c.err = storage.ErrUnavailable
	if w := h.authorize(); w.Code != 503 || w.Header().Get("Location") != "" {
		t.Errorf("authorize = %d to %q, want a 503 page", w.Code, w.Header().Get("Location"))
	}
}

func TestLegacySignInRequestsConsentToo(t *testing.T) {
	h, c := fixtureWithConsent(t)
	begin := h.server.Legacy().SignIn(h.app, "self", redirect, "s t")
	visit := func(more string) *httptest.ResponseRecorder {
		return h.serve(httptest.NewRequest("GET", begin+more, nil))
	}
	if w := visit(""); w.Code != 200 || len(c.asked) != 1 || c.asked[0] != "openid profile" ||
		c.query.Get("legacy") == "" {
		t.Fatalf("authorize = %d, asked %q with %v", w.Code, c.asked, c.query)
	}
	w := visit("&keystile_consent=denied")
	if w.Header().Get("Location") != redirect+
		"?error=access_denied&error_description=the+user+did+not+allow+this&state=s+t" {
		t.Errorf("a no leads to %q", w.Header().Get("Location"))
	}
	if _, err := h.server.Legacy().Code(t.Context(), h.app, *h.browser.session, redirect, netip.Addr{}); !errors.Is(err,
		storage.ErrNotFound) {
		t.Errorf("Legacy().Code without consent = %v, want ErrNotFound", err)
	}
	c.allowed = true
	if w := visit(""); w.Code != 302 || !strings.Contains(w.Header().Get("Location"), "code=") {
		t.Errorf("with consent: %d to %q", w.Code, w.Header().Get("Location"))
	}
}
