package console_test

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/keystile/keystile/gateway/console"
	"github.com/keystile/keystile/internal/handle"
	"github.com/keystile/keystile/internal/test/backend"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/driver"
)

// countedFinds counts what is asked of a Backend.
type countedFinds struct {
	driver.Backend
	calls atomic.Int64
}

func (c *countedFinds) Get(ctx context.Context, kind, id string) (driver.Doc, error) {
	c.calls.Add(1)
	return c.Backend.Get(ctx, kind, id)
}

func (c *countedFinds) List(ctx context.Context, kind string, span driver.Span, n int) ([]driver.Doc, string, error) {
	c.calls.Add(1)
	return c.Backend.List(ctx, kind, span, n)
}

// from is a session of a user that began at an address.
func (h *fixture) from(sub, ip string, at time.Time) {
	h.Helper()
	must(h.store.SaveSession(h.Context(), storage.Session{
		ID: handle.Hash(handle.NewCookie()), UserID: sub, IP: ip, AuthTime: at, ExpiresAt: at.Add(24 * time.Hour),
		EndsAt: at.Add(24 * time.Hour),
		Agent:  "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0",
	}))(h)
}

// Each page of users reads at most four times beside what tells who reads it, and is small, however
// much there is.
func TestPagesOfUsersAskTheStoreAtMostFourTimes(t *testing.T) {
	b := &countedFinds{Backend: backend.New(t)}
	h := newNode(t, b, storage.NewMasterKey())
	root, eve := h.testUser("root", storage.RoleAdmin), h.testUser("eve", "")
	for i := range 110 {
		u := must(h.store.CreateUser(t.Context(), storage.User{Username: fmt.Sprintf("person-with-a-long-name-%d", i)},
			storage.Login{Method: storage.LoginSelf, Subject: fmt.Sprint("p", i)}))(t)
		app := h.app(fmt.Sprintf("An-application-with-a-name-%d", i), "")
		h.from(u.Sub, "2001:db8:aaaa:bbbb:cccc:dddd:eeee:7", time.Now())
		h.from(eve.Sub, "2001:db8:aaaa:bbbb:cccc:dddd:eeee:7", time.Now())
		must(h.store.SaveConsent(t.Context(), storage.Consent{AppID: app.ID, UserID: eve.Sub,
			Scope: "openid profile email"}))(t)
		must(h.store.SaveConsent(t.Context(), storage.Consent{AppID: must(h.store.Consents(t.Context(), eve.Sub))(t)[0].AppID,
			UserID: u.Sub, Scope: "openid profile email"}))(t)
		if i < 20 {
			h.key(eve.Sub)
		}
	}
	app := must(h.store.Consents(t.Context(), eve.Sub))(t)[0].AppID
	calls := func(path string) int64 {
		before := b.calls.Load()
		w := h.open(path, root.cookie)
		if w.Code != 200 || w.Body.Len() > 80<<10 { // each row has an id beside its name; there are up to a hundred
			t.Errorf("%s: %d with %d bytes", path, w.Code, w.Body.Len())
		}
		return b.calls.Load() - before
	}
	calls("/console/users/new")
	who := calls("/console/users/new")
	page := "/console/users/" + eve.Sub
	for _, path := range []string{
		"/console/users", "/console/users?q=person", page, page + "/sessions", page + "/grants", page + "/keys",
		"/console/sessions", "/console/sessions?user=eve", "/console/sessions?address=2001:db8:aaaa:bbbb:cccc:dddd:eeee:7",
		"/console/grants", "/console/grants?user=eve", "/console/grants?client_id=" + app,
		"/console/grants?user=eve&client_id=" + app,
	} {
		if n := calls(path) - who; n > 4 {
			t.Errorf("%s asks the store %d times", path, n)
		}
	}
	if text := h.open(page+"/grants", root.cookie).Body.String(); strings.Count(text, "An-application-with-a-name") < 100 {
		t.Error("the grants of a user do not say what the applications are called")
	}
}

// All sessions are found page by page, the newest first, and no page has the id of one.
func TestSessionsAreFoundNewestFirst(t *testing.T) {
	h := newFixture(t)
	root, eve, mina := h.testUser("root", storage.RoleAdmin), h.testUser("eve", ""), h.testUser("mina", "")
	now := time.Now()
	for i := range 150 {
		h.from(eve.Sub, "192.0.2.7", now.Add(-time.Duration(i+1)*time.Minute))
	}
	h.from(mina.Sub, "192.0.2.8", now.Add(-time.Second))
	seen, last := map[string]bool{}, ""
	for after, pages := "", 0; pages == 0 || after != ""; pages++ {
		a := h.want(h.call("GET", "/api/console/sessions?after="+after, root.cookie, nil), 200, 1, "sessions")
		for _, s := range must(h.store.Sessions(t.Context(), eve.Sub))(t) {
			place, _ := base64.RawURLEncoding.DecodeString(a.body.Data["next"].(string))
			if strings.Contains(a.text+string(place), s.ID) {
				t.Fatal("the id of a session is shown")
			}
		}
		for _, row := range a.body.Data["sessions"].([]any) {
			row := row.(map[string]any)
			at := row["auth_time"].(string)
			if id := row["id"].(string); seen[id] || last != "" && at > last {
				t.Fatalf("twice, or not in order: %v after %s", row, last)
			} else {
				seen[id], last = true, at
			}
		}
		after = a.body.Data["next"].(string)
	}
	if len(seen) != 154 {
		t.Errorf("%d sessions were found", len(seen))
	}
	for query, want := range map[string]int{"user=mina": 2, "user=" + mina.Sub: 2, "address=192.0.2.8": 1,
		"user=nobody": 0, "address=::ffff:192.0.2.7": 100} {
		a := h.want(h.call("GET", "/api/console/sessions?"+query, root.cookie, nil), 200, 1, query)
		if n := len(a.body.Data["sessions"].([]any)); n != want {
			t.Errorf("%s finds %d, want %d", query, n, want)
		}
	}
	for _, after := range []string{"%2B", strings.Repeat("A", 1200), "dXNlcj14H2E"} {
		h.want(h.call("GET", "/api/console/sessions?after="+after, root.cookie, nil), 400, 400, after)
	}
}

// Of several, one that there is not ends none of them; and what has ended is on the trail although
// the next cannot be written there.
func TestSessionsEndedTogetherAreOnTheTrailOneByOne(t *testing.T) {
	h := newFixture(t)
	root, eve, mina := h.testUser("root", storage.RoleAdmin), h.testUser("eve", ""), h.testUser("mina", "")
	app := h.app("Shop", "")
	for _, u := range []testUser{eve, mina} {
		must(h.store.SaveConsent(t.Context(), storage.Consent{AppID: app.ID, UserID: u.Sub, Scope: "openid"}))(t)
	}
	sessions := []string{eve.Sub + "." + h.shown(eve.Sub), mina.Sub + "." + h.shown(mina.Sub)}
	grants := []string{eve.Sub + "." + app.ID, mina.Sub + "." + app.ID}
	for path, ids := range map[string][]string{"/console/sessions": sessions,
		"/console/grants?client_id=" + app.ID: grants} {
		do := map[bool]string{true: "end", false: "withdraw"}[path == "/console/sessions"]
		if code := h.act(path, root,
			url.Values{"do": {do}, "ids": append([]string{root.Sub + ".none"}, ids...)}); code != 404 || len(h.events) > 0 {
			t.Errorf("%s with one that there is not: %d, %s", path, code, h.trail())
		}
		if code := h.act(path, root, url.Values{"do": {do}, "ids": {"none"}}); code != 400 {
			t.Errorf("%s with what is no name: %d", path, code)
		}
		h.unsaved = errors.New("no disk")
		if code := h.act(path, root, url.Values{"do": {do}, "ids": ids}); code != 500 || len(h.events) != 1 ||
			len(h.notices) != 1 {
			t.Errorf("%s while the trail cannot be written: %d, %s %q", path, code, h.trail(), h.notices)
		}
		h.unsaved, h.events, h.notices = nil, nil, nil
	}
	if left := len(must(h.store.Sessions(t.Context(), eve.Sub))(t)) +
		len(must(h.store.Sessions(t.Context(), mina.Sub))(t)); left != 1 {
		t.Errorf("%d sessions are left of two, of which one was ended", left)
	}
	if left, _, err := h.store.ConsentsOfApp(t.Context(), app.ID, "", 10); len(left) != 1 || err != nil {
		t.Errorf("grants that are left: %v %v", left, err)
	}
}

// Administrators act on the lists of all users, auditors read them, nobody else has them; texts that
// others set do not become markup, and a form that was not made there does nothing.
func TestListsOfAllUsersByEachRole(t *testing.T) {
	h := newFixture(t)
	root, aud := h.testUser("root", storage.RoleAdmin), h.testUser("aud", storage.RoleAuditor)
	others := []testUser{h.testUser("mina", storage.RoleDeveloper), h.testUser("eve", "")}
	app := h.app("Shop", "")
	app.Name = "<script>alert(2)</script>"
	must(h.store.SaveApp(t.Context(), app))(t)
	eve := others[1]
	must(h.store.SaveConsent(t.Context(), storage.Consent{AppID: app.ID, UserID: eve.Sub, Scope: "openid"}))(t)
	for path, form := range map[string]url.Values{
		"/console/sessions":         {"do": {"end"}, "ids": {eve.Sub + "." + h.shown(eve.Sub)}},
		"/console/grants?user=eve":  {"do": {"withdraw"}, "ids": {eve.Sub + "." + app.ID}},
		"/console/users/" + eve.Sub: {"do": {"unlock"}, "address": {"192.0.2.7"}},
	} {
		for _, who := range []testUser{root, aud} {
			w := h.open(path, who.cookie)
			if text := w.Body.String(); w.Code != 200 || !strings.Contains(text, "eve") || strings.Contains(text, "<script>alert") || (who.Username == "root") != strings.Contains(text, `method="post"`) {
				t.Errorf("%s by %s: %d %s", path, who.Username, w.Code, text)
			}
		}
		id := h.formOn(h.open(path, root.cookie))
		for _, who := range append(others, aud) {
			form.Set("form", id)
			if w := h.send(path, who.cookie, form); w.Code != 403 {
				t.Errorf("%s sent by %s: %d", path, who.Username, w.Code)
			}
		}
		for _, id := range []string{"", h.formOn(h.open("/console/users/new", root.cookie)),
			h.formOn(h.open(path, h.signedIn(root.Sub, time.Now())))} {
			form.Set("form", id)
			if w := h.send(path, root.cookie, form); w.Code != 400 {
				t.Errorf("%s with another form's id: %d", path, w.Code)
			}
		}
		for _, who := range others {
			if w := h.open(path, who.cookie); w.Code != 403 {
				t.Errorf("%s by %s: %d", path, who.Username, w.Code)
			}
		}
	}
	if len(h.events) > 0 {
		t.Errorf("something was done: %s", h.trail())
	}
	if text := h.open("/console/grants?user=eve", root.cookie).Body.String(); !strings.Contains(text,
		"&lt;script&gt;alert(2)") {
		t.Error("the application is not named")
	}
}

// locked are addresses that had failed attempts.
type locked map[string]bool

func (l locked) Unlock(_ context.Context, ip netip.Addr) bool {
	was := l[ip.String()]
	delete(l, ip.String())
	return was
}

func TestAddressIsLetInAgain(t *testing.T) {
	all := locked{"192.0.2.7": true, "192.0.2.8": true, "192.0.2.9": true}
	h := newFixture(t, func(c *console.Config) { c.Lockout = all })
	root, eve := h.testUser("root", storage.RoleAdmin), h.testUser("eve", "")
	h.from(eve.Sub, "192.0.2.7", time.Now())
	page := "/console/users/" + eve.Sub
	if code := h.act(page, root, url.Values{"do": {"unlock"}, "address": {"::ffff:192.0.2.8"}}); code != 303 ||
		len(all) != 2 || all["192.0.2.8"] {
		t.Errorf("one address: %d, locked are %v", code, all)
	}
	if code := h.act(page, root, url.Values{"do": {"unlock"}}); code != 303 || len(all) != 1 || !all["192.0.2.9"] {
		t.Errorf("the user's addresses: %d, locked are %v", code, all)
	}
	if code := h.act(page, root, url.Values{"do": {"unlock"}, "address": {"here"}}); code != 400 {
		t.Errorf("what is no address: %d", code)
	}
	if want := "user unlock " + eve.Sub + " by " + root.Sub +
		": failed sign-ins from 192.0.2.7 -> forgotten"; !strings.Contains(h.trail(), want) {
		t.Errorf("the trail is %s", h.trail())
	}
	if text := h.open(page, root.cookie).Body.String(); !strings.Contains(text, "Last sign-in") {
		t.Error("it is not said when the user signed in last")
	}
}
