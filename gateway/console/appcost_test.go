package console_test

import (
	"context"
	"fmt"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/keystile/keystile/internal/test/backend"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/client"
	"github.com/keystile/keystile/storage/driver"
)

// counted counts the reads of a Backend.
type counted struct {
	driver.Backend
	reads atomic.Int64
}

func (c *counted) Get(ctx context.Context, kind, id string) (driver.Doc, error) {
	c.reads.Add(1)
	return c.Backend.Get(ctx, kind, id)
}

func (c *counted) List(ctx context.Context, kind string, s driver.Span, n int) ([]driver.Doc, string, error) {
	c.reads.Add(1)
	return c.Backend.List(ctx, kind, s, n)
}

// A page costs two reads at most, beside those that identify the visitor.
func TestPagesOfApplicationsAndClientsAreCheapAndSmall(t *testing.T) {
	store := &counted{Backend: backend.New(t)}
	h := newNode(t, store, storage.NewMasterKey())
	root := h.testUser("root", storage.RoleAdmin)
	app, _ := h.waits(h.app("An-application-of-an-ordinary-name-0", root.Sub))
	for i := range 120 {
		h.app(fmt.Sprintf("An-application-of-an-ordinary-name-%d", i+1), root.Sub)
		must(h.store.SaveConsent(t.Context(), storage.Consent{AppID: app.ID, UserID: fmt.Sprintf("u%031d", i),
			Scope: "email openid phone profile tools"}))(t)
		must(h.store.SetClientHost(t.Context(), fmt.Sprintf("agents-of-somebody-%d.example.com", i), true))(t)
		h.agent(fmt.Sprintf("https://agents-of-somebody-%d.example.com/oauth/client-metadata.json", i), client.Document,
			time.Time{})
	}
	store.reads.Store(0)
	h.open("/console/apps/new", root.cookie)
	visitor := store.reads.Load() // what a page costs that reads nothing
	for path, rows := range map[string]int{
		"/console/apps": 100, "/console/apps?q=an": 100, "/console/apps?owner=" + root.Sub: 100, "/console/apps/" + app.ID: 0,
		"/console/apps/" + app.ID + "/grants": 50,
		"/console/clients":                    100, "/console/clients/hosts": 100,
		shownAt("https://agents-of-somebody-7.example.com/oauth/client-metadata.json"): 0,
	} {
		store.reads.Store(0)
		w := h.open(path, root.cookie)
		if n := store.reads.Load() - visitor; w.Code != 200 || n > 3 || n < 1 || w.Body.Len() > 60<<10 {
			t.Errorf("%s: %d with %d bytes after %d reads", path, w.Code, w.Body.Len(), n)
		}
		if n := strings.Count(w.Body.String(), `<th scope="row">`); n != rows {
			t.Errorf("%s shows %d rows, want %d", path, n, rows)
		}
	}
}

func TestGrantsOfAnApplicationHavePagesForItsOwnerAndForReaders(t *testing.T) {
	h := newFixture(t)
	root, mina, aud, eve := h.testUser("root", storage.RoleAdmin), h.testUser("mina", ""),
		h.testUser("aud", storage.RoleAuditor), h.testUser("eve", storage.RoleDeveloper)
	app, order := h.waits(h.app("Shop", mina.Sub))
	for i := range 60 {
		must(h.store.SaveConsent(t.Context(), storage.Consent{AppID: app.ID, UserID: fmt.Sprintf("u%031d", i),
			Scope: hostile}))(t)
	}
	must(h.store.SaveConsent(t.Context(), storage.Consent{AppID: h.app("Other", eve.Sub).ID, UserID: "another",
		Scope: "openid"}))(t)
	api, page := "/api/console/apps/"+app.ID+"/consents", "/console/apps/"+app.ID
	seen := map[string]bool{}
	for after, pages := "", 0; pages == 0 || after != "" && pages < 5; pages++ {
		a := h.want(h.call("GET", api+"?after="+url.QueryEscape(after), mina.cookie, nil), 200, 1, "a page")
		for _, c := range a.body.Data["consents"].([]any) {
			seen[c.(map[string]any)["sub"].(string)] = true
		}
		after = data(a, "next")
	}
	if len(seen) != 60 || seen["another"] {
		t.Errorf("%d users on all pages", len(seen))
	}
	for who, want := range map[string]int{root.cookie: 200, mina.cookie: 200, aud.cookie: 200, eve.cookie: 404, "": 401} {
		w := h.open(page+"/grants", who)
		if text := w.Body.String(); w.Code != want || strings.Contains(text, "u000") != (want == 200) ||
			strings.Contains(text, hostile) || strings.Contains(text, "/console/users/") != (who == root.cookie ||
			who == aud.cookie) {
			t.Errorf("the page for %q is %d: %s", who, w.Code, text)
		}
		if got := h.call("GET", api, who, nil).status; got != want {
			t.Errorf("the list for %q is %d, want %d", who, got, want)
		}
	}
	text := h.open(page+"/danger", mina.cookie).Body.String()
	if !strings.Contains(text, "<code>"+order+"</code>") || !strings.Contains(text,
		"consents of more than 50 users") {
		t.Errorf("the deletion does not name what goes with it: %s", text)
	}
	if text := h.open(page+"/danger", aud.cookie).Body.String(); strings.Contains(text, "What goes with it") {
		t.Error("an auditor is asked to delete it")
	}
}
