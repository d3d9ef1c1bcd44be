package mcpbus_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/keystile/keystile/gateway"
	"github.com/keystile/keystile/internal/test/backend"
	"github.com/keystile/keystile/internal/test/proofs"
	"github.com/keystile/keystile/storage"
)

// The bus alone, and behind the gateway, takes a token that is bound to a key with its proof and not without.
func TestBusTakesABoundTokenWithItsProofAlone(t *testing.T) {
	n := newNode(t, backend.New(t), storage.NewMasterKey(), new(bill), func(*gateway.Config) {})
	app := must(n.store.SaveApp(t.Context(), storage.App{Name: "App", Domains: []string{"app.example.com"},
		DPoP: storage.DPoPRequired}))(t)
	key := proofs.NewKey("ES256")
	mux := http.NewServeMux()
	n.provider.Mount(mux)
	n.bus.Mount(mux)
	send := func(h http.Handler, path, nonce, scheme, access, body string) *httptest.ResponseRecorder {
		r, w := httptest.NewRequest("POST", issuer+path, strings.NewReader(body)), httptest.NewRecorder()
		r.Header.Set("Content-Type", "application/json")
		if access == "" {
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		} else {
			r.Header.Set("Authorization", scheme+" "+access)
		}
		r.Header.Set("DPoP", key.New("POST", issuer+path, nonce, access).Text(key))
		h.ServeHTTP(w, r)
		return w
	}
	form := url.Values{"grant_type": {"client_credentials"}, "client_id": {app.ID},
		"client_secret": {app.AppKey().Reveal()}, "resource": {issuer + "/api/mcp"}}.Encode()
	nonce := send(mux, "/oauth/token", "", "", "", form).Header().Get("DPoP-Nonce")
	_, rest, _ := strings.Cut(send(mux, "/oauth/token", nonce, "", "", form).Body.String(), `"access_token":"`)
	access, _, _ := strings.Cut(rest, `"`)
	const list = `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`
	for name, h := range map[string]http.Handler{"alone": mux, "behind the gateway": n.gateway.Front(mux)} {
		if w := send(h, "/api/mcp", nonce, "DPoP", access, list); w.Code != 403 && w.Code != 200 { // of this scope
			t.Errorf("%s: %d %s", name, w.Code, w.Body)
		}
		w := send(h, "/api/mcp", "", "DPoP", access, list)
		said := w.Header().Get("WWW-Authenticate")
		if w.Code != 401 || w.Header().Get("DPoP-Nonce") == "" || !strings.HasPrefix(said, `DPoP error="use_dpop_nonce"`) ||
			!strings.Contains(said, `resource_metadata="`) {
			t.Errorf("%s, without a nonce: %d %v", name, w.Code, w.Header())
		}
		w = send(h, "/api/mcp", nonce, "Bearer", access, list)
		said = w.Header().Get("WWW-Authenticate")
		if w.Code != 401 || !strings.HasPrefix(said, `Bearer error="invalid_token"`) ||
			!strings.Contains(said, ", DPoP algs=") {
			t.Errorf("%s, as Bearer: %d %v", name, w.Code, w.Header())
		}
	}
}
