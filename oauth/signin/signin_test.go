package signin

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/keystile/keystile/oauth/signin/internal/account"
	"github.com/keystile/keystile/oauth/signin/internal/newpassword"
	"github.com/keystile/keystile/oauth/signin/internal/web"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/counters"
)

func TestNewSaysEverythingThatIsWrongAtOnce(t *testing.T) {
	_, err := New(context.Background(), Config{BaseURL: "https://id.example.com/", SessionIdle: -time.Hour,
		Lock: counters.Lock{Failures: -1}})
	for _, want := range []string{"BaseURL", "Store", "SessionIdle", "Lock"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("New() = %v, want a word about %s", err, want)
		}
	}
}

func TestMountHangsTheSignInPagesAndTheAccountPage(t *testing.T) {
	rm, mux := newFixture(t, nil), http.NewServeMux()
	rm.Mount(mux)
	for path, code := range map[string]int{
		web.FormPath: 200, web.AccountPath: 200, web.QRPath: 200, web.ConfirmPath: 200, web.DevicePath: 200,
		web.FormPath + "/nothing": 404, web.AccountPath + "/nothing": 404,
	} {
		w := httptest.NewRecorder()
		if mux.ServeHTTP(w, get(path)); w.Code != code || code == 404 && !strings.Contains(w.Body.String(), `"code"`) {
			t.Errorf("GET %s = %d %s, want %d", path, w.Code, w.Body, code)
		}
	}
	for _, path := range rm.Patterns() {
		if !strings.HasPrefix(path, web.FormPath) && !strings.HasPrefix(path, web.AccountPath) && path != web.DevicePath {
			t.Errorf("%s is served and not mounted", path)
		}
	}
}

// Each of the three would leave tokens alive that its words say have ended.
func TestSignInOffersNothingThatEndsTokensWithoutARevoker(t *testing.T) {
	for _, revokes := range []bool{false, true} {
		d := newAccountFixture(t)
		if !revokes {
			d.fixture = newFixture(t, nil)
		}
		d.consent(d.mina.Sub)
		here := d.enterMina()
		page := d.page(here)
		for _, path := range []string{account.EverywherePath, account.AccessPath, newpassword.Path} {
			if offered := strings.Contains(page, `"`+path+`"`); offered != revokes {
				t.Errorf("with a Revoker %t, %s is offered: %t", revokes, path, offered)
			}
			if a := d.do(sends(path, "cookie", here, "app", "ksacme")); (a.Code != 404) != revokes {
				t.Errorf("with a Revoker %t, POST %s = %d", revokes, path, a.Code)
			}
		}
		if !strings.Contains(page, "Acme") || !strings.Contains(page, `"`+account.SessionPath+`"`) {
			t.Errorf("with a Revoker %t, the page does not show the rest: %s", revokes, page)
		}
	}
}

func TestBaseURLIsAnOrigin(t *testing.T) {
	for base, want := range map[string]bool{
		"https://id.example.com": true, "http://127.0.0.1:8080": true, "https://[::1]:8443": true,
		"": false, "id.example.com": false, "https://": false, "https://id.example.com/": false,
		"https://id.example.com/x": false,
		"https://u@id.example.com": false, "https://id.example.com?x": false, "https://id.example.com#x": false,
		"ftp://id.example.com": false, "https://ID.example.com": false,
	} {
		if _, err := New(context.Background(), Config{BaseURL: base, Store: new(storage.Store)}); (err == nil) != want {
			t.Errorf("New(%q) = %v, want success %v", base, err, want)
		}
	}
}
