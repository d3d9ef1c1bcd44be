package signin

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/keystile/keystile/internal/handle"
	"github.com/keystile/keystile/oauth/signin/internal/web"
	"github.com/keystile/keystile/storage"
)

func TestSignInRedirectsBackToTheAuthorizeRequest(t *testing.T) {
	rm := newFixture(t, nil)
	a := rm.do(post("username", " MINA ", "password", password, "query", authorizeQuery))
	if want := "/oauth/authorize?" + authorizeQuery; a.Code != http.StatusSeeOther || a.Header().Get("Location") != want {
		t.Errorf("sign-in = %d to %q, want 303 to %q", a.Code, a.Header().Get("Location"), want)
	}
	if got := a.Header().Get("Cache-Control"); got != "no-store" {
		t.Errorf("Cache-Control = %q, want no-store", got)
	}
}

func TestSignInWithoutAnApplicationShowsThatItWorked(t *testing.T) {
	rm := newFixture(t, nil)
	a := rm.do(post("username", "mina", "password", password))
	if a.Code != http.StatusSeeOther || a.Header().Get("Location") != "/oauth/signin" {
		t.Fatalf("sign-in = %d to %q, want 303 to /oauth/signin", a.Code, a.Header().Get("Location"))
	}
	who := rm.do(get(a.Header().Get("Location"), a.cookie()))
	for _, want := range []string{"You are signed in", "Mina Okafor", "<span>Mina</span>", `<form method="post" action="/oauth/logout">`} {
		if who.Code != http.StatusOK || !strings.Contains(who.body, want) {
			t.Errorf("GET /oauth/signin = %d, lacks %q", who.Code, want)
		}
	}
}

// Decision 17.
func TestCookieHasTheseAttributes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for base, secure := range map[string]string{origin: "Secure; ", "http://127.0.0.1:8080": ""} {
			rm := newFixture(t, func(c *Config) { c.BaseURL = base })
			a := rm.do(post("username", "mina", "password", password))
			want := "open_sso_token=" + a.cookie() +
				"; Path=/; Expires=Mon, 31 Jan 2000 00:00:00 GMT; Max-Age=2592000; HttpOnly; " + secure + "SameSite=Lax"
			if got := a.Header().Get("Set-Cookie"); got != want || len(a.cookie()) != web.CookieLen {
				t.Errorf("%s: Set-Cookie = %q, want %q", base, got, want)
			}
		}
	})
}

func TestSessionSaysWhenAndHowAndKeepsNoCookie(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rm := newFixture(t, nil)
		time.Sleep(time.Minute)
		cookie := rm.enterMina()
		v, err := rm.store.Session(context.Background(), handle.Hash(cookie))
		now := time.Now().UTC()
		want := storage.Session{
			ID: handle.Hash(cookie), UserID: rm.mina.Sub, LoginType: "self", AMR: "pwd", AuthTime: now, Lang: "en",
			ExpiresAt: now.Add(7 * day), EndsAt: now.Add(30 * day), Version: v.Version,
			IP: "192.0.2.1",
		}
		if err != nil || !reflect.DeepEqual(v, want) {
			t.Errorf("Session() = %+v, %v, want %+v", v, err, want)
		}
		if _, err := rm.store.Session(context.Background(), cookie); !errors.Is(err, storage.ErrNotFound) {
			t.Errorf("Session(cookie) = %v, want ErrNotFound", err)
		}
	})
}

func TestSignInHasItsOwnSessionAndEndsTheOneBefore(t *testing.T) {
	rm := newFixture(t, nil)
	before := rm.enterMina()
	elsewhere := rm.enterMina()
	after := rm.enterMina("cookie", before)
	if err := rm.visits(before); !errors.Is(err, storage.ErrNotFound) || before == after {
		t.Errorf("old cookie: Visitor() = %v, want ErrNotFound", err)
	}
	for _, cookie := range []string{elsewhere, after} {
		if err := rm.visits(cookie); err != nil {
			t.Errorf("another cookie: Visitor() = %v, want a session", err)
		}
	}
}

func TestPlantedCookieIsNotSignedIn(t *testing.T) {
	rm := newFixture(t, nil)
	planted := handle.NewCookie()
	if got := rm.enterMina("cookie", planted); got == planted {
		t.Error("the cookie after sign-in is the planted one")
	}
	if err := rm.visits(planted); !errors.Is(err, storage.ErrNotFound) {
		t.Errorf("Visitor(planted) = %v, want ErrNotFound", err)
	}
}

func TestHeadIsGetWithoutABody(t *testing.T) {
	rm := newFixture(t, nil)
	server := httptest.NewServer(rm)
	defer server.Close()
	got, err := http.Head(server.URL + "/oauth/signin")
	must(t, err)
	defer got.Body.Close()
	body, _ := io.ReadAll(got.Body)
	if got.StatusCode != http.StatusOK || len(body) != 0 || got.ContentLength < 1000 {
		t.Errorf("HEAD = %d with %d bytes of %d, want 200 with none", got.StatusCode, len(body), got.ContentLength)
	}
}

func TestSubmitRefusesOtherMethodsAndPaths(t *testing.T) {
	rm := newFixture(t, nil)
	a := rm.do(httptest.NewRequest("PUT", origin+"/oauth/signin", nil))
	if a.Code != http.StatusMethodNotAllowed || a.Header().Get("Allow") != "GET, HEAD, POST" {
		t.Errorf("PUT = %d, Allow %q, want 405 and GET, HEAD, POST", a.Code, a.Header().Get("Allow"))
	}
	if a := rm.do(get("/oauth/signin/x")); a.Code != http.StatusNotFound {
		t.Errorf("GET /oauth/signin/x = %d, want 404", a.Code)
	}
}
