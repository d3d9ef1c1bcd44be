package console_test

import (
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/client"
	"github.com/keystile/keystile/storage/driver"
)

const (
	document = "https://agent.example/client.json"
	dynamic  = "ks-aaaaaaaaaaaaaaaaaaaa"
)

// clients makes a document's client, one of a host of a similar name, and one that has registered itself.
func (h *fixture) clients() {
	h.agent(document, client.Document, time.Time{})
	h.agent("https://agent.example.org/client.json", client.Document, time.Time{})
	h.agent(dynamic, client.Dynamic, time.Now().Add(time.Hour))
}

func shownAt(id string) string { return "/console/clients/show?id=" + url.QueryEscape(id) }

// revoked returns the applications whose tokens have ended.
func (h *fixture) revoked() string {
	var ids []string
	for _, r := range must(h.store.Revocations(h.Context(), 0, 100))(h) {
		if r.Kind == driver.RevokeApp {
			ids = append(ids, r.ID)
		}
	}
	return strings.Join(ids, " ")
}

func TestHostOfClientsIsTrustedDeniedAndForgotten(t *testing.T) {
	h := newFixture(t)
	root := h.testUser("root", storage.RoleAdmin)
	h.clients()
	hosts := "/api/console/clients/hosts"
	for _, c := range []struct{ body, policy, trail string }{
		{`{"host":" Agent.example ","policy":"trusted"}`, "trusted", `policy "" -> "trusted"`},
		{`{"host":"agent.example","policy":"denied"}`, "denied", `policy "trusted" -> "denied"; clients whose tokens ended: 1`},
	} {
		a := h.want(h.do("POST", hosts, root.cookie, c.body), 200, 1, c.body)
		shown := h.want(h.call("GET", "/api/console/clients/show?id="+document, root.cookie, nil), 200, 1, "show")
		if data(a, "host") != "agent.example" || data(a, "policy") != c.policy || data(shown, "host_policy") != c.policy {
			t.Errorf("%s answers %s, and the client has %s", c.body, a.text, shown.text)
		}
		if want := "client host set agent.example by " + root.Sub + ": " + c.trail; !strings.Contains(h.trail(), want+"\n") {
			t.Errorf("the trail has no %s in\n%s", want, h.trail())
		}
	}
	if h.revoked() != document || strings.Join(h.forgot, " ") != document {
		t.Errorf("ended are %q, forgotten %q", h.revoked(), h.forgot)
	}
	h.want(h.do("DELETE", hosts+"/agent.example", root.cookie, ""), 200, 1, "DELETE")
	h.want(h.do("DELETE", hosts+"/agent.example", root.cookie, ""), 404, 404, "DELETE again")
	if list := h.call("GET", hosts, root.cookie, nil); !strings.Contains(list.text, `"hosts":[]`) || !strings.Contains(h.trail(), `client host forget agent.example by `+root.Sub+`: policy "denied" -> ""`) {
		t.Errorf("left is %s, on the trail %s", list.text, h.trail())
	}
}

func TestClientIsReadAgainDisabledAndRemoved(t *testing.T) {
	h := newFixture(t)
	root := h.testUser("root", storage.RoleAdmin)
	h.clients()
	do := func(what, body string, status, code int) {
		t.Helper()
		h.want(h.do("POST", "/api/console/clients/"+what, root.cookie, body), status, code, what+" "+body)
	}
	fresh := must(h.store.App(t.Context(), document))(t)
	fresh.Client.FreshUntil = time.Now().Add(24 * time.Hour)
	must(h.store.SaveApp(t.Context(), fresh))(t)
	do("refetch", `{"client_id":"`+document+`"}`, 200, 1)
	if now := must(h.store.App(t.Context(), document))(t); now.Client.FreshUntil.After(time.Now()) {
		t.Errorf("it is fresh until %v", now.Client.FreshUntil)
	}
	do("refetch", `{"client_id":"`+dynamic+`"}`, 400, 400)
	do("set", `{"client_id":"`+dynamic+`"}`, 400, 400)
	do("set", `{"client_id":"`+document+`","disabled":true}`, 400, 400)
	do("set", `{"client_id":"`+dynamic+`","disabled":true}`, 200, 1)
	if now := must(h.store.App(t.Context(), dynamic))(t); !now.Disabled || h.revoked() != dynamic {
		t.Errorf("it is %+v, ended are %q", now, h.revoked())
	}
	do("set", `{"client_id":"`+dynamic+`","disabled":false}`, 200, 1)
	do("forget", `{"client_id":"`+document+`"}`, 200, 1)
	do("forget", `{"client_id":"`+document+`"}`, 404, 404)
	shop := h.app("Shop", root.Sub)
	for _, id := range []string{shop.ID, "", "https://agent.example/\\u0000", "ks-none",
		"ks-" + strings.Repeat("x", 300)} {
		do("forget", `{"client_id":"`+id+`"}`, 404, 404)
		do("set", `{"client_id":"`+id+`","disabled":true}`, 404, 404)
		do("refetch", `{"client_id":"`+id+`"}`, 404, 404)
	}
	if h.revoked() != dynamic+" "+document {
		t.Errorf("ended are %q", h.revoked())
	}
	for _, want := range []string{
		"client refetch " + document + " by " + root.Sub + `: fresh_until "` + fresh.Client.FreshUntil.UTC().Format("2006-01-02T15:04:05Z") + `" -> "`,
		"client set " + dynamic + " by " + root.Sub + ": disabled false -> true\n",
		"client set " + dynamic + " by " + root.Sub + ": disabled true -> false\n",
		"client forget " + document + " by " + root.Sub + `: name "Agent" -> ""`,
	} {
		if !strings.Contains(h.trail(), want) {
			t.Errorf("the trail has no %s in\n%s", want, h.trail())
		}
	}
}

func TestClientHostThatIsInvalidIsRefusedAndNotStored(t *testing.T) {
	h := newFixture(t)
	root := h.testUser("root", storage.RoleAdmin)
	for _, body := range []string{
		`{}`, `{"host":"agent.example"}`, `{"host":"agent.example","policy":"open"}`, `{"policy":"denied"}`, `{"host":"https://agent.example","policy":"denied"}`, `{"host":1,"policy":"denied"}`,
		`{"host":"agent.example/x","policy":"denied"}`, `{"host":"` + strings.Repeat("a.", 200) + `example","policy":"denied"}`, `{"host":"<script>","policy":"denied"}`, `{"host":"a\u0000.example","policy":"denied"}`, `{"host":"agent.example","policy":"denied","x":1}`,
	} {
		h.want(h.do("POST", "/api/console/clients/hosts", root.cookie, body), 400, 400, body)
	}
	h.want(h.call("GET", "/api/console/clients/hosts?after=%2F", root.cookie, nil), 400, 400, "after")
	h.want(h.do("DELETE", "/api/console/clients/hosts/a%20b", root.cookie, ""), 400, 400, "DELETE")
	if said := must(h.store.ClientHosts(t.Context()))(t); len(said) > 0 || len(h.events) > 0 {
		t.Errorf("stored is %v, on the trail %s", said, h.trail())
	}
}

func TestHostsOfClientsHavePages(t *testing.T) {
	h := newFixture(t)
	aud, seen := h.testUser("aud", storage.RoleAuditor), 0
	for i := range 130 {
		must(h.store.SetClientHost(t.Context(), fmt.Sprintf("agent%d.example", i), i%2 == 0))(t)
	}
	for after, pages := "", 0; pages == 0 || after != "" && pages < 5; pages++ {
		a := h.want(h.call("GET", "/api/console/clients/hosts?after="+after, aud.cookie, nil), 200, 1, "a page")
		seen += len(a.body.Data["hosts"].([]any))
		after = data(a, "next")
	}
	if seen != 130 {
		t.Errorf("%d hosts on all pages", seen)
	}
}

func TestClientsAreShownToReadersAndChangedByAdministrators(t *testing.T) {
	h := newFixture(t)
	root, mina, aud, eve := h.testUser("root", storage.RoleAdmin), h.testUser("mina", storage.RoleDeveloper),
		h.testUser("aud", storage.RoleAuditor), h.testUser("eve", "")
	h.clients()
	mine := h.app("Mine", root.Sub)
	must(h.store.SetClientHost(t.Context(), "b.example", false))(t)
	for _, path := range []string{shownAt(document), "/console/clients/hosts", "/console/clients",
		"/api/console/clients/show?id=" + document, "/api/console/clients/hosts"} {
		for who, want := range map[string]int{root.cookie: 200, aud.cookie: 200, mina.cookie: 403, eve.cookie: 403, "": 401} {
			w := h.open(path, who)
			shown := strings.Contains(w.Body.String(), "b.example") || strings.Contains(w.Body.String(), "127.0.0.1") ||
				strings.Contains(w.Body.String(), dynamic)
			if w.Code != want || shown != (want == 200) || who == aud.cookie && strings.Contains(w.Body.String(), `method="post"`) {
				t.Errorf("%s for %q is %d, want %d: %s", path, who, w.Code, want, w.Body)
			}
		}
	}
	for _, id := range []string{mine.ID, "none", "ks-none", "", "https://agent.example/\x00"} {
		if w := h.open(shownAt(id), root.cookie); w.Code != 404 {
			t.Errorf("%q is shown with %d", id, w.Code)
		}
	}
	for path, body := range map[string]string{
		"set": `{"client_id":"` + dynamic + `","disabled":true}`, "refetch": `{"client_id":"` + document + `"}`, "forget": `{"client_id":"` + document + `"}`, "hosts": `{"host":"agent.example","policy":"denied"}`,
	} {
		for _, who := range []testUser{mina, aud, eve} {
			h.want(h.do("POST", "/api/console/clients/"+path, who.cookie, body), 403, 403, path+" by "+who.Username)
		}
		h.want(h.do("POST", "/api/console/clients/"+path, h.signedIn(root.Sub, time.Now().Add(-time.Hour)), body), 403, 4031,
			path+" after an hour")
	}
	h.want(h.do("DELETE", "/api/console/clients/hosts/agent.example", aud.cookie, ""), 403, 403, "DELETE by an auditor")
	if len(h.events) > 0 || h.revoked() != "" {
		t.Errorf("somebody else has done %s", h.trail())
	}
}

func TestClientsAreActedOnByForms(t *testing.T) {
	h := newFixture(t)
	root, boss := h.testUser("root", storage.RoleAdmin), h.testUser("boss", storage.RoleAdmin)
	h.clients()
	for _, c := range []struct{ id, do, says string }{
		{document, "trust", "The host is trusted."}, {document, "refetch", "The document is read again"},
		{document, "unsay", "The configuration decides"}, {document, "deny", "The host is denied."},
		{dynamic, "disable", "The agent is disabled."}, {dynamic, "enable", "The agent is enabled."},
		{dynamic, "forget", "The agent is removed."},
	} {
		id, events := h.formOn(h.open(shownAt(c.id), root.cookie)), len(h.events)
		for what, forged := range map[string]url.Values{
			"no id": {"do": {c.do}}, "one that is none": {"do": {c.do}, "form": {"x"}},
			"one of another page":    {"do": {c.do}, "form": {h.formOn(h.open("/console/clients/hosts", root.cookie))}},
			"one of another session": {"do": {c.do}, "form": {h.formOn(h.open(shownAt(c.id), boss.cookie))}},
		} {
			if w := h.send(shownAt(c.id), root.cookie, forged); w.Code != 400 || len(h.events) != events {
				t.Errorf("%s with %s: %d", c.do, what, w.Code)
			}
		}
		w := h.send(shownAt(c.id), root.cookie, url.Values{"do": {c.do}, "form": {id}, "host": {"evil.example"},
			"client_id": {"ks-evil"}})
		if w.Code != 303 || len(h.events) != events+1 || strings.Contains(h.trail(), "evil") {
			t.Fatalf("%s: %d %s, on the trail %s", c.do, w.Code, w.Body, h.trail())
		}
		if after := h.open(w.Header().Get("Location"), root.cookie); after.Code != 200 ||
			!strings.Contains(after.Body.String(), c.says) && c.do != "forget" {
			t.Errorf("%s leads to %s: %d", c.do, w.Header().Get("Location"), after.Code)
		}
		if twice := h.send(shownAt(c.id), root.cookie, url.Values{"do": {c.do}, "form": {id}}); twice.Code != 409 &&
			twice.Code != 404 || len(h.events) != events+1 {
			t.Errorf("%s twice: %d", c.do, twice.Code)
		}
	}
	form := func(do, host, policy string) int {
		return h.act("/console/clients/hosts", root, url.Values{"do": {do}, "host": {host}, "policy": {policy}})
	}
	if set, no, none, unsay := form("set", "b.example", "trusted"), form("set", hostile, "trusted"),
		form("unsay", "c.example", ""), form("unsay", "b.example", ""); set != 303 || no != 400 || none != 404 ||
		unsay != 303 {
		t.Errorf("the hosts' forms answer %d %d %d %d", set, no, none, unsay)
	}
}

func TestClientMetadataRunsNowhere(t *testing.T) {
	h := newFixture(t)
	root := h.testUser("root", storage.RoleAdmin)
	d := &client.Description{
		Kind: client.Document, AuthMethod: client.AuthPrivateKeyJWT, KeysURL: `javascript:alert(1)//"><script>alert(1)</script>`, Grants: []string{hostile}, From: hostile,
		RedirectURIs: []string{"cursor://x/%22%3E%3Cscript%3Ealert(1)"}, KeptAt: time.Date(2020, 1, 2, 3, 4, 5, 0, time.UTC),
	}
	id := `https://agent.example/a?x="><script>alert(1)</script>&y='`
	must(h.store.SaveApp(t.Context(), storage.App{ID: id, Name: hostile + "\u202e", Public: true, Client: d}))(t)
	for _, path := range []string{"/console/clients", shownAt(id)} {
		w := h.open(path, root.cookie)
		text := w.Body.String()
		if w.Code != 200 || strings.Contains(text, "<script>alert") || strings.Contains(text, `href="javascript`) || !strings.Contains(text, "&lt;script&gt;alert(1)") {
			t.Errorf("%s is %d %s", path, w.Code, text)
		}
		if !strings.Contains(text, `kept since <time datetime="2020-01-02T03:04:05Z">2 Jan 2020, 03:04 UTC</time>`) {
			t.Errorf("%s does not say since when it is kept: %s", path, text)
		}
	}
}
