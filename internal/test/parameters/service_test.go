package parameters

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/keystile/keystile"
	"github.com/keystile/keystile/gateway"
	"github.com/keystile/keystile/oauth/signin"
	"github.com/keystile/keystile/oauth/signin/passwords"
	"github.com/keystile/keystile/oauth/signin/users"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/counters"
	"github.com/keystile/keystile/storage/memory"
)

const (
	origin    = "https://id.example.com"
	redirect  = "https://app.example.com/cb"
	client    = "ksapp"
	password  = "correct horse battery"
	appSecret = "S3cr3tKeyForTests0123456789abcdef"
	verifier  = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
	challenge = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"
	formType  = "application/x-www-form-urlencoded"
)

// service is a whole service, an application that is trusted, and a browser in which Ada is signed in. Each request
// comes from an address of its own.
type service struct {
	*keystile.Service
	cookies []*http.Cookie
	asked   int
	close   func(t testing.TB)
}

func start(t testing.TB) *service {
	t.Helper()
	hasher := passwords.New(passwords.Cost{Memory: 64, Passes: 1})
	s, backend := &service{}, memory.New()
	var err error
	s.Service, err = keystile.New(context.Background(), keystile.Config{
		BaseURL: origin, Backend: backend, MasterKey: storage.NewMasterKey(), Log: slog.New(slog.DiscardHandler),
		SignIn: signin.Config{Passwords: hasher}, Gateway: gateway.Config{Limiter: unlimited{}},
	})
	must(t, err)
	s.close = func(t testing.TB) {
		must(t, s.Close(context.Background()))
		must(t, backend.Close())
	}
	ctx := t.Context()
	_, err = users.New(s.Store, hasher).Create(ctx, storage.User{Username: "ada", Nickname: "Ada"}, password)
	must(t, err)
	_, err = s.Store.SaveApp(ctx, storage.App{
		ID: client, Name: "App", Domains: []string{"app.example.com"}, FirstParty: true,
		Secrets: []storage.AppSecret{{Secret: storage.NewSecret(appSecret)}},
	})
	must(t, err)
	w := s.send("POST", "/oauth/signin", pairs("username", "ada", "password", password).Encode())
	if s.cookies = w.Result().Cookies(); w.Code != http.StatusSeeOther {
		t.Fatalf("Ada cannot sign in: %d %s", w.Code, w.Body)
	}
	return s
}

// unlimited lets everybody do everything.
type unlimited struct{}

func (unlimited) Allow(context.Context, string, int, time.Time) counters.Verdict {
	return counters.Verdict{OK: true, Limit: counters.Unlimited}
}

func (unlimited) HoldAddress(context.Context, netip.Addr, int, time.Time) (counters.Verdict, func()) {
	return counters.Verdict{OK: true, Limit: counters.Unlimited}, func() {}
}

// send sends a request as a browser of its own origin does, with the text as the query or as the body.
func (s *service) send(method, path, text string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, path, nil)
	if method == http.MethodPost {
		r = httptest.NewRequest(method, path, strings.NewReader(text))
		r.Header.Set("Content-Type", formType)
		r.Header.Set("Sec-Fetch-Site", "same-origin")
	} else {
		r.URL.RawQuery = text
	}
	for _, c := range s.cookies {
		r.AddCookie(c)
	}
	s.asked++
	r.RemoteAddr = fmt.Sprintf("10.%d.%d.%d:1", s.asked>>16&255, s.asked>>8&255, s.asked&255)
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	return w
}

// code returns a code of Ada's.
func (s *service) code(t testing.TB) string {
	t.Helper()
	w := s.send("GET", "/oauth/authorize", authorization().Encode())
	to, err := url.Parse(w.Header().Get("Location"))
	if err != nil || to.Query().Get("code") == "" {
		t.Fatalf("no code: %d %q %s", w.Code, to, w.Body)
	}
	return to.Query().Get("code")
}

// authorization is a request that leads to a code.
func authorization() url.Values {
	return pairs("response_type", "code", "client_id", client, "redirect_uri", redirect, "scope", "openid profile",
		"state", "xyz", "nonce", "n-0S6_WzA2Mj", "code_challenge", challenge, "code_challenge_method", "S256")
}

// by returns a form of the application, with its secret.
func by(grant string, more ...string) url.Values {
	return pairs(append([]string{"client_id", client, "client_secret", appSecret, "grant_type", grant}, more...)...)
}

// clientCredentials and codeGrant are requests that lead to a token.
func clientCredentials() url.Values { return by("client_credentials") }

func (s *service) codeGrant(t testing.TB) url.Values {
	t.Helper()
	return by("authorization_code", "code", s.code(t), "redirect_uri", redirect, "code_verifier", verifier)
}

func pairs(of ...string) url.Values {
	v := url.Values{}
	for i := 0; i < len(of); i += 2 {
		v.Set(of[i], of[i+1])
	}
	return v
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
