package registry_test

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/keystile/keystile/internal/test/backend"
	"github.com/keystile/keystile/internal/test/dialogue"
	"github.com/keystile/keystile/internal/test/openapitest"
	"github.com/keystile/keystile/registry"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/toolplan"
)

func TestDialogues(t *testing.T) {
	document := openapitest.New(t, new(registry.Registry).OpenAPI())
	dialogue.Prove(t, base, func(t *testing.T, _ string) (http.Handler, map[string]string) {
		h, values := stage(t)
		return document.Watch(t, h), values
	})
	document.SawEverything(t)
}

// stage is the fixture as dialogues find it: four people who can sign in, three of whom
// have, and a few upstreams.
func stage(t *testing.T) (http.Handler, map[string]string) {
	backends, settle := backend.Nodes(t)
	key := storage.NewMasterKey()
	var nodes []http.Handler
	var h *fixture // the first
	open := func(b driver.Backend) {
		n := newNode(t, b, key, func(c *registry.Config) {
			c.Discoverer = upstreams{}
			c.Origins = []string{"https://console.example.com"}
			if h != nil {
				c.Audit = h // there is one trail
			}
		})
		if h == nil {
			h = n
		}
		mux := http.NewServeMux()
		mux.Handle("/oauth/signin", n.signIn)
		mux.Handle("/oauth/", n.provider)
		mux.Handle("/api/console/", n.registry)
		mux.HandleFunc("/test/plans/{member}", n.plans)
		mux.HandleFunc("/test/trail", h.trail)
		mux.HandleFunc("/test/lists/{member}", n.lists)
		nodes = append(nodes, mux)
	}
	open(backends[0])
	mina := h.user("mina", storage.RoleDeveloper)
	ada, root, eve := h.user("ada", storage.RoleDeveloper), h.user("root", storage.RoleAdmin), h.user("eve", "")
	aud := h.user("aud", storage.RoleAuditor)
	app := must(h.store.SaveApp(t.Context(), storage.App{Name: "App", Domains: []string{"app.example.com"},
		Owner: root.Sub}))(t)
	for _, b := range backends[1:] {
		open(b)
	}
	return dialogue.Nodes(settle, nodes...), map[string]string{
		"mina": h.visitor(mina), "ada": h.visitor(ada), "root": h.visitor(root), "eve": h.visitor(eve), "aud": h.visitor(aud),
		"mina_sub": mina.Sub, "password": password, "client_id": app.ID, "client_secret": app.AppKey().Reveal(),
	}
}

// plans shows what no endpoint does: how the tools of a capability are called.
func (h *fixture) plans(w http.ResponseWriter, r *http.Request) {
	_, tools, err := h.store.Tools(r.Context(), r.PathValue("member"))
	if err != nil {
		http.Error(w, err.Error(), 404)
		return
	}
	plans := map[string]any{}
	for _, t := range tools {
		plans[t.Name] = t.Call
	}
	json.NewEncoder(w).Encode(plans)
}

// lists is an upstream that lists other tools from now on.
func (h *fixture) lists(w http.ResponseWriter, r *http.Request) {
	var tools []toolplan.Tool
	if err := json.NewDecoder(r.Body).Decode(&tools); err != nil {
		http.Error(w, err.Error(), 400)
		return
	}
	h.found(r.PathValue("member"), tools...)
}

func (h *fixture) trail(w http.ResponseWriter, _ *http.Request) {
	h.mu.Lock()
	defer h.mu.Unlock()
	json.NewEncoder(w).Encode(h.events)
}
