package gateway_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/keystile/keystile/gateway"
	"github.com/keystile/keystile/internal/test/backend"
	"github.com/keystile/keystile/internal/test/dialogue"
	"github.com/keystile/keystile/internal/test/openapitest"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/counters"
	"github.com/keystile/keystile/storage/driver"
)

func TestDialogues(t *testing.T) {
	document := openapitest.New(t, newFixture(t).gateway.OpenAPI())
	dialogue.Prove(t, issuer, func(t *testing.T, file string) (http.Handler, map[string]string) {
		h, values := stage(t, strings.HasSuffix(file, "proxy.txt"))
		return document.Watch(t, h), values
	})
	document.SawEverything(t)
}

// stage is the fixture of the dialogues: an application of each tier, with a token. Time does not
// pass in a bubble with open connections, so services in other processes are there only for the
// dialogues that need them.
func stage(t *testing.T, elsewhere bool) (http.Handler, map[string]string) {
	backends, settle := backend.Nodes(t)
	if elsewhere { // nothing waits for another node to read while connections are open
		backends = backends[:1]
	}
	key, shared := storage.NewMasterKey(), counters.New()
	var nodes []http.Handler
	open := func(b driver.Backend) *fixture {
		h := newNode(t, b, key, func(c *gateway.Config) {
			if c.CORS.AlsoOpen, c.Products = []string{"/files/"}, nil; len(backends) > 1 {
				c.Limiter = shared.Limiter()
			}
		})
		h.complete(t, elsewhere)
		nodes = append(nodes, h.handler)
		return h
	}
	h := open(backends[0])
	h.apps()
	values := h.values(t)
	for _, b := range backends[1:] {
		open(b)
	}
	h.handler = dialogue.Nodes(settle, nodes...)
	if len(nodes) == 1 {
		return h.handler, values
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/api/v1/quota") || strings.HasPrefix(r.URL.Path, "/api/v1/usage") ||
			strings.HasPrefix(r.URL.Path, "/api/v1/billing/settlements") {
			time.Sleep(time.Second) // a node stores what it has charged within a second, and only then others know of it
			synctest.Wait()
		}
		h.handler.ServeHTTP(w, r)
	}), values
}

// complete adds what dialogues ask for.
func (h *fixture) complete(t *testing.T, elsewhere bool) {
	if elsewhere {
		services(t, h)
	}
	h.mux.Handle("/payment/", h.gateway.Guard(gateway.ProductPayment, http.HandlerFunc(service)))
	h.mux.HandleFunc("/test/trail", func(w http.ResponseWriter, r *http.Request) {
		for _, record := range must(h.store.Records(r.Context(), 0, 100))(t) {
			fmt.Fprintf(w, "%s\n", record.Data)
		}
	})
	h.mux.HandleFunc("/test/approve", func(w http.ResponseWriter, r *http.Request) {
		must(h.gateway.Billing().Approve(r.Context(), r.FormValue("order"), root, time.Time{}, nil))(t)
	})
}

// values makes the people, and returns what dialogues know.
func (h *fixture) values(t *testing.T) map[string]string {
	owner := h.testUser("ada", "")
	bob := h.testUser("bob", "")
	own := must(h.store.SaveApp(t.Context(), storage.App{Name: "Own", Domains: []string{"own.example.com"},
		Owner: bob.Sub}))(t)
	sibling := must(h.store.SaveApp(t.Context(), storage.App{Name: "Sibling", Domains: []string{"sibling.example.com"},
		Owner: bob.Sub}))(t)
	enterprise := must(h.store.SaveApp(t.Context(), storage.App{Name: "Big", Domains: []string{"big.example.com"},
		Tier: storage.TierEnterprise}))(t)
	return map[string]string{
		"client_id": h.app.ID, "client_secret": h.app.AppKey().Reveal(), "token": h.bearer(h.app),
		"white_label_id": h.other.ID, "white_label_secret": h.other.AppKey().Reveal(), "white_label_token": h.bearer(h.other),
		"enterprise_token": h.bearer(enterprise), "owner_token": owner.bearer, "own_id": own.ID, "own_token": h.bearer(own),
		"agent_token": h.acting(h.app, owner.Sub, "planner", h.app.ID), "owner_sub": owner.Sub,
		"sibling_id": sibling.ID, "plain_token": h.granted(h.app, owner.Sub, "openid profile"),
	}
}

// services are one that echoes its request, at /files/, and one that cannot be reached, at /lost/.
func services(t *testing.T, h *fixture) {
	echo := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		seen := map[string]any{"method": r.Method, "uri": r.RequestURI, "body": string(body)}
		for _, name := range []string{"Authorization", "Cookie", "X-Keystile-Client", "X-Keystile-Tier", "X-Keystile-User",
			"X_keystile_user", "X-Forwarded-For", "X-Forwarded-Prefix", "X-Request-Id", "Keep-Alive"} {
			if values := r.Header[name]; values != nil {
				seen[name] = values
			}
		}
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Access-Control-Allow-Origin", "https://own.example")
		w.WriteHeader(http.StatusCreated)
		json.NewEncoder(w).Encode(seen)
	}))
	t.Cleanup(echo.Close)
	h.mux.Handle("/files/", must(h.gateway.Proxy(gateway.Upstream{Product: gateway.ProductStorage, URL: echo.URL + "/v1",
		Strip: "/files"}))(t))
	h.mux.Handle("/trusted/",
		must(h.gateway.Proxy(gateway.Upstream{Product: gateway.ProductStorage, URL: echo.URL, KeepBearer: true}))(t))
	h.mux.Handle("/lost/", must(h.gateway.Proxy(gateway.Upstream{Product: gateway.ProductStorage,
		URL: "http://127.0.0.1:1"}))(t))
}
