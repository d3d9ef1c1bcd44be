package gateway_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/keystile/keystile"
	"github.com/keystile/keystile/gateway"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/memory"
)

// A host that has set nothing guards its service from what callers say of themselves.
func TestGuardedServiceIsToldNothingByItsCaller(t *testing.T) {
	backend := memory.New()
	defer backend.Close()
	service, err := keystile.New(t.Context(), keystile.Config{BaseURL: "http://127.0.0.1:8080", Backend: backend,
		MasterKey: storage.NewMasterKey()})
	if err != nil {
		t.Fatal(err)
	}
	defer service.Close(t.Context())
	var got http.Header
	service.Handle("/hello", service.Gateway.Guard(gateway.ProductAI,
		http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { got = r.Header.Clone() })))
	app, err := service.Store.SaveApp(t.Context(), storage.App{Name: "App", Domains: []string{"app.example.com"}})
	if err != nil {
		t.Fatal(err)
	}
	form := url.Values{"grant_type": {"client_credentials"}, "client_id": {app.ID},
		"client_secret": {app.AppKey().Reveal()}}
	r := httptest.NewRequest("POST", "http://127.0.0.1:8080/oauth/token", strings.NewReader(form.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	w := httptest.NewRecorder()
	service.ServeHTTP(w, r)
	var token struct {
		Text string `json:"access_token"`
	}
	if err := json.Unmarshal(w.Body.Bytes(), &token); err != nil || token.Text == "" {
		t.Fatalf("token: %d %s", w.Code, w.Body)
	}
	r = httptest.NewRequest("GET", "http://127.0.0.1:8080/hello", nil)
	r.Header.Set("Authorization", "Bearer "+token.Text)
	r.Header.Set("X-Own", "own")
	for _, name := range []string{"X-Keystile-User", "X-Keystile.User", "X_Keystile~User", "X-Forwarded-For",
		"X-Original-Url", "X-Http-Method-Override", "True-Client-Ip"} {
		r.Header[name] = []string{"forged"}
	}
	w = httptest.NewRecorder()
	service.ServeHTTP(w, r)
	if w.Code != 200 || got.Get("X-Own") != "own" || got.Get("X-Forwarded-For") != "192.0.2.1" {
		t.Fatalf("answered %d %s, the service got %v", w.Code, w.Body, got)
	}
	for name, values := range got {
		if values[0] == "forged" {
			t.Errorf("the service got %s", name)
		}
	}
}
