package admin

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/keystile/keystile/internal/handle"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/client"
	"github.com/keystile/keystile/storage/driver"
)

// agents are applications that nobody registered: two documents of a host, one of another, and one
// that has registered itself.
func (o *office) agents() (dynamic string) {
	o.t.Helper()
	now := time.Now().UTC()
	dynamic = handle.NewClientID()
	for id, kind := range map[string]string{
		"https://agents.example/a.json": client.Document, "https://agents.example/b.json": client.Document,
		"https://agents.example:8443/a.json": client.Document, dynamic: client.Dynamic,
	} {
		_, err := o.target.Store.SaveApp(o.t.Context(), storage.App{ID: id, Name: "Agent", Public: true,
			Client: &client.Description{
				Kind: kind, AuthMethod: client.AuthNone, RedirectURIs: []string{"http://127.0.0.1/cb"},
				Grants:     []string{"authorization_code"},
				FreshUntil: now.Add(time.Hour), ExpiresAt: now.Add(time.Hour),
			}})
		if err != nil {
			o.t.Fatal(err)
		}
	}
	return dynamic
}

// ended are the applications whose tokens were ended, sorted.
func (o *office) ended() (ids []string) {
	o.t.Helper()
	rs, err := o.target.Store.Revocations(o.t.Context(), 0, 100)
	if err != nil {
		o.t.Fatal(err)
	}
	for _, r := range rs {
		if r.Kind != driver.RevokeApp || r.Before.IsZero() || !r.Until.After(r.Before) {
			o.t.Errorf("revoked %+v", r)
		}
		ids = append(ids, r.ID)
	}
	slices.Sort(ids)
	return ids
}

func TestDeniedHostLosesAllThatItsApplicationsWereGranted(t *testing.T) {
	for name, serve := range map[string]func(*office){"nobody serves": func(*office) {},
		"a server runs": (*office).serve} {
		t.Run(name, func(t *testing.T) {
			o := newOffice(t)
			o.agents()
			serve(o)
			if v := o.must("client", "deny", "agents.example"); v["word"] != "denied" || len(v["clients"].([]any)) != 2 {
				t.Errorf("said %v", v)
			}
			if got := o.ended(); !slices.Equal(got, []string{"https://agents.example/a.json", "https://agents.example/b.json"}) {
				t.Errorf("ended %q", got)
			}
			if h, err := o.target.Store.ClientHost(t.Context(), "agents.example"); err != nil || !h.Denied {
				t.Errorf("the host is %+v, %v", h, err)
			}
			if _, err := o.target.Store.ClientHost(t.Context(), "agents.example:8443"); err == nil {
				t.Error("its other port is another host")
			}
			if rows := o.rows("client", "list", "--hosts"); len(rows) != 1 || rows[0]["host"] != "agents.example" ||
				rows[0]["word"] != "denied" {
				t.Errorf("hosts are %v", rows)
			}
			o.must("client", "trust", "https://agents.example/a.json") // stands for its host
			if v := o.must("client", "show", "agents.example"); v["word"] != "trusted" || len(v["clients"].([]any)) != 2 {
				t.Errorf("shown %v", v)
			}
			o.must("client", "forget", "agents.example")
			if v := o.must("client", "show", "agents.example"); v["word"] != "none" {
				t.Errorf("shown %v", v)
			}
			if v := o.must("client", "deny", "never.seen"); v["word"] != "denied" || len(v["clients"].([]any)) != 0 {
				t.Errorf("said %v", v)
			}
			o.wantFailure(1, "neither trusted nor denied", "client", "forget", "agents.example")
			if n := len(o.trail); n != 4 || !strings.HasPrefix(o.trail[0].Detail,
				"client host set agents.example by command line, ") ||
				!strings.HasSuffix(o.trail[0].Detail, `: policy "" -> "denied"; clients whose tokens ended: 2`) {
				t.Errorf("on the trail is %v", o.trail)
			}
		})
	}
}

func TestApplicationThatRegisteredItselfIsDeniedAlone(t *testing.T) {
	o := newOffice(t)
	id := o.agents()
	o.must("client", "deny", id)
	if a, err := o.target.Store.App(t.Context(), id); err != nil || !a.Disabled {
		t.Errorf("it is %+v, %v", a, err)
	}
	if got := o.ended(); !slices.Equal(got, []string{id}) || !slices.Contains(o.forgotten, id) {
		t.Errorf("ended %q, forgotten %q", got, o.forgotten)
	}
	o.must("client", "trust", id)
	if a, err := o.target.Store.App(t.Context(), id); err != nil || a.Disabled {
		t.Errorf("it is %+v, %v", a, err)
	}
	if hosts, err := o.target.Store.ClientHosts(t.Context()); err != nil || len(hosts) != 0 {
		t.Errorf("hosts are %v, %v", hosts, err)
	}
}

func TestDocumentIsReadAgain(t *testing.T) {
	o := newOffice(t)
	id := o.agents()
	stale := func() (ids []string) {
		apps, _, err := o.target.Store.Clients(t.Context(), "", 100)
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range apps {
			if !time.Now().Before(a.Client.FreshUntil) {
				ids = append(ids, a.ID)
			}
		}
		return ids
	}
	o.must("client", "refetch", "https://agents.example/b.json")
	if got := stale(); !slices.Equal(got, []string{"https://agents.example/b.json"}) {
		t.Errorf("stale are %q", got)
	}
	o.must("client", "refetch", "agents.example")
	if got := stale(); len(got) != 2 {
		t.Errorf("stale are %q", got)
	}
	o.wantFailure(1, "there is no document to read", "client", "refetch", id)
}

func TestClientsAreListedApartFromTheApplications(t *testing.T) {
	o := newOffice(t)
	if code, out, _ := o.run("", "client", "list"); code != 0 || !strings.HasPrefix(out, "no application") {
		t.Errorf("an empty list is %q", out)
	}
	id := o.agents()
	ours, _ := o.app()
	rows := o.rows("client", "list")
	if len(rows) != 4 || rows[0]["kind"] != "document" || rows[0]["host"] != "agents.example" ||
		rows[0]["kept_at"] != nil || rows[0]["expires_at"] == nil {
		t.Errorf("clients are %v", rows)
	}
	if rows := o.rows("app", "list"); len(rows) != 1 {
		t.Errorf("applications are %v", rows)
	}
	if v := o.must("client", "show", id); v["client_id"] != id || v["host"] != "" || v["kind"] != "dynamic" {
		t.Errorf("shown %v", v)
	}
	o.wantFailure(1, "there is no application", "client", "show", "ks-aaaaaaaaaaaaaaaaaaaa")
	o.wantFailure(1, "was registered here", "client", "deny", ours)
	for _, word := range []string{"AGENTS.example", "agents.example/", "agents.example:443", "a b", "user@agents.example",
		"agents.example?x", "智能.example", "https//x"} {
		o.wantFailure(2, "neither a client_id nor a host", "client", "deny", word)
	}
}
