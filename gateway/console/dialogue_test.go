package console_test

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/keystile/keystile/gateway/console"
	"github.com/keystile/keystile/internal/test/backend"
	"github.com/keystile/keystile/internal/test/dialogue"
	"github.com/keystile/keystile/internal/test/openapitest"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/client"
	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/nodes"
)

func TestDialogues(t *testing.T) {
	document := openapitest.New(t, new(console.Console).OpenAPI())
	dialogue.Prove(t, base, func(t *testing.T, _ string) (http.Handler, map[string]string) {
		h, values := stage(t)
		return document.Watch(t, h), values
	})
	document.SawEverything(t)
}

// twoNodes are a node that answers and one that went away.
type twoNodes struct{}

func (twoNodes) List(context.Context) ([]nodes.Info, error) {
	began := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
	return []nodes.Info{
		{ID: "A", Name: "east", Build: "v1.2.3", Started: began, Age: 1900 * time.Millisecond, Live: true, Self: true},
		{ID: "B", Name: "west", Build: "v1.2.2", Started: began.Add(time.Hour), Age: time.Minute},
	}, nil
}

// agent makes an application that nobody registered. If it does not end, a user has consented to it.
func (h *fixture) agent(id, kind string, end time.Time) {
	d := &client.Description{Kind: kind, AuthMethod: client.AuthNone, RedirectURIs: []string{"http://127.0.0.1/cb"},
		Grants: []string{"authorization_code"}, ExpiresAt: end}
	if end.IsZero() {
		d.KeptAt = time.Now()
	}
	if _, err := h.store.SaveApp(h.Context(), storage.App{ID: id, Name: "Agent", Public: true, Client: d}); err != nil {
		h.Fatal(err)
	}
}

// stage is the fixture of the dialogues: four users who have signed in, an application of
// a developer's with an order that waits, and one of nobody's.
func stage(t *testing.T) (http.Handler, map[string]string) {
	backends, settle := backend.Nodes(t)
	key := storage.NewMasterKey()
	var handlers []http.Handler
	open := func(b driver.Backend) *fixture {
		n := newNode(t, b, key, func(c *console.Config) {
			c.Notifier, c.Nodes, c.Registry, c.Bus = nil, twoNodes{}, new(shop), new(shop)
			operates(c)
		})
		mux := http.NewServeMux()
		mux.Handle("/oauth/", n.provider)
		mux.Handle("/api/console/", n.console)
		handlers = append(handlers, mux)
		return n
	}
	h := open(backends[0])
	root, mina, eve := h.testUser("root", storage.RoleAdmin), h.testUser("mina", storage.RoleDeveloper),
		h.testUser("eve", "")
	aud := h.testUser("aud", storage.RoleAuditor)
	app, order := h.waits(h.app("Shop", mina.Sub))
	nobodys := h.app("Office", "")
	h.agent("https://agent.example/client.json", client.Document, time.Time{})
	h.agent("ks-aaaaaaaaaaaaaaaaaaaa", client.Dynamic, time.Now().Add(24*time.Hour))
	must(h.store.SaveConsent(t.Context(), storage.Consent{AppID: app.ID, UserID: eve.Sub, Scope: "openid profile"}))(t)
	key1 := h.key(eve.Sub)
	h.sells(mina.Sub)
	delivery := h.gaveUp()
	for _, b := range backends[1:] {
		open(b)
	}
	return dialogue.Nodes(settle, handlers...), map[string]string{
		"root": root.cookie, "mina": mina.cookie, "eve": eve.cookie, "aud": aud.cookie, "root_sub": root.Sub,
		"mina_sub": mina.Sub, "eve_sub": eve.Sub,
		"app": app.ID, "eve_session": h.shown(eve.Sub), "eve_key": key1, "order": order, "nobodys": nobodys.ID,
		"nobodys_secret": nobodys.AppKey().Reveal(),
		"delivery":       delivery, "rule": h.ruled(),
	}
}
