package remote_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/keystile/keystile/gateway/remote"
	"github.com/keystile/keystile/internal/token"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/lasthop"
)

const upstream = "https://api.example.com"

// statement returns what the service says of a call of a tool.
func (s *service) statement(tool, audience string) string {
	s.Helper()
	return must(s.tokens.SignCaller(s.Context(), storage.Caller{AppID: s.app.ID, UserID: "u1", Actors: []string{"a1"}},
		lasthop.Call{Audience: audience, Tool: tool, RequestID: "r1", Identity: lasthop.Identity{Kind: lasthop.Signed}}))(s)
}

func TestServiceBehindLearnsWhoCallsAndTakesNothingElse(t *testing.T) {
	s := newService(t)
	callers := must(s.verifier().Callers(upstream, "shop", "ai"))(t)
	served := 0
	h := callers.Require(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		served++
		told, ok := remote.ToldFrom(r.Context())
		if !ok || told.AppID != s.app.ID || told.UserID != "u1" || len(told.Actors) != 1 || told.RequestID != "r1" ||
			told.TokenID == "" || told.Audience != upstream || told.ExpiresAt.IsZero() {
			t.Errorf("the handler is told %+v, %t", told, ok)
		}
	}))
	good := s.statement("shop__get", upstream)
	for name, c := range map[string]struct {
		sent []string
		want int
	}{
		"a tool": {[]string{good}, 200}, "a product": {[]string{s.statement("ai", upstream)}, 200},
		"again": {[]string{good}, 200}, "none": {nil, 401}, "an empty one": {[]string{""}, 401},
		"two": {[]string{good, good}, 401}, "two in one": {[]string{good + ", " + good}, 401},
		"another capability":       {[]string{s.statement("other__get", upstream)}, 401},
		"a capability that begins": {[]string{s.statement("shopping__get", upstream)}, 401},
		"a product like a tool":    {[]string{s.statement("shop_get", upstream)}, 401},
		"another upstream":         {[]string{s.statement("shop__get", "https://other.example.com")}, 401},
		"another port":             {[]string{s.statement("shop__get", upstream+":8443")}, 401},
		"by http":                  {[]string{s.statement("shop__get", "http://api.example.com")}, 401},
		"an access token":          {[]string{s.bearer()}, 401}, "a bearer": {[]string{"Bearer " + good}, 401},
		"another signature": {[]string{good[:len(good)-4] + "AAAA"}, 401},
	} {
		r, w, before := httptest.NewRequest("GET", "/orders/1", nil), httptest.NewRecorder(), served
		r.Header.Set("Authorization", "Bearer "+s.bearer())
		if c.sent != nil {
			r.Header[lasthop.Header] = c.sent
		}
		if h.ServeHTTP(w, r); w.Code != c.want || (served > before) != (c.want == 200) ||
			c.want == 401 && w.Header().Get("WWW-Authenticate") != "Keystile-Caller" {
			t.Errorf("%s is answered %d %v %s, want %d", name, w.Code, w.Header(), w.Body, c.want)
		}
	}
}

func TestStatementIsVerifiedByKeysThatRotate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newService(t)
		callers := must(s.verifier().Callers(upstream, "shop"))(t)
		s.set(errors.New("away"), nil)
		_, err := callers.Verify(t.Context(), s.statement("shop__get", upstream))
		wantStatus(t, err, 503, "the keys cannot be fetched")
		s.set(nil, nil)
		time.Sleep(10 * time.Second)
		_, err = callers.Verify(t.Context(), s.statement("shop__get", upstream))
		wantStatus(t, err, 200, "once they can")
		s.rotate()
		s.rotate()
		fresh := s.statement("shop__get", upstream)
		_, err = callers.Verify(t.Context(), fresh)
		wantStatus(t, err, 401, "by a key that was drawn since, within the pause")
		time.Sleep(10 * time.Second)
		_, err = callers.Verify(t.Context(), fresh)
		wantStatus(t, err, 200, "after it")
		time.Sleep(50 * time.Second)
		_, err = callers.Verify(t.Context(), fresh)
		wantStatus(t, err, 401, "a minute later")
	})
}

// A service in the process of Keystile verifies tokens by what is there, and statements by the keys all the same.
func TestStatementIsVerifiedBesideTheTokensOfItsProcess(t *testing.T) {
	s := newService(t)
	v := s.verifier(func(c *remote.Config) { c.Tokens = s.tokens })
	callers := must(v.Callers(upstream, "shop"))(t)
	told, err := callers.Verify(t.Context(), s.statement("shop__get", upstream))
	if wantStatus(t, err, 200, "a statement"); told.Tool != "shop__get" {
		t.Errorf("it says %+v", told)
	}
	itself := must(s.tokens.SignCaller(t.Context(), storage.Caller{AppID: s.app.ID},
		lasthop.Call{Audience: upstream, Tool: "shop__get"}))(t)
	if told, err = callers.Verify(t.Context(), itself); err != nil || told.UserID != "" || told.AppID != s.app.ID {
		t.Errorf("of an application itself it says %+v, %v", told, err)
	}
	keys := must(token.OpenKeys(t.Context(), s.store))(t)
	if _, err = callers.Verify(t.Context(), must(keys.Sign(token.ES256, token.TypeCaller, []byte(`{}`)))(t)); err == nil {
		t.Error("a statement of nothing is good")
	}
}

func TestCallersAreOfAnOriginAndOfSomething(t *testing.T) {
	v := newService(t).verifier()
	for _, origin := range []string{"", "api.example.com", "https://API.example.com", "https://api.example.com/",
		"https://api.example.com:443", "https://api.example.com/v1", "http://api.example.com:80", ":",
		"https://u@api.example.com"} {
		if _, err := v.Callers(origin, "shop"); err == nil || !strings.Contains(err.Error(), "origin") {
			t.Errorf("Callers(%q) = %v, want an error about the origin", origin, err)
		}
	}
	for _, of := range [][]string{nil, {}, {""}, {"shop", ""}} {
		if _, err := v.Callers(upstream, of...); err == nil || !strings.Contains(err.Error(), "name the capabilities") {
			t.Errorf("Callers(of %q) = %v, want an error about the names", of, err)
		}
	}
}
