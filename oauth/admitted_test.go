package oauth_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/keystile/keystile/internal/test/vendordocs"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/access"
	"github.com/keystile/keystile/storage/event"
	"github.com/keystile/keystile/storage/groups"
)

func (d *devices) admit(app storage.App, allow, deny []string) {
	d.Helper()
	app = must(d.nodes[0].store.App(context.Background(), app.ID))(d)
	app.Admission = &access.Admission{Allow: allow, Deny: deny, Since: time.Now()}
	d.register(app)
}

// The person who types the code reads why, and the device is told at once.
func TestDeviceOfAUserWhoIsNotAdmittedIsToldAccessDenied(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDevices(t, 1)
		d.admit(d.app, []string{"role:admin"}, nil)
		begun := d.begin()
		shown := d.person().signedIn().typeCode(begun.text("user_code"))
		shown.has(t, "the page", "You may not use this application", "You are signed in as ada, who may not use Terminal",
			"begin on the device once more")
		if shown.status != 403 || strings.Contains(shown.text, `name="allow"`) {
			t.Errorf("the page is %d: %s", shown.status, shown.text)
		}
		time.Sleep(5 * time.Second)
		d.poll(d.nodes[0], begun).wants(t, "the poll", 400, 400, "access_denied")
		all := d.events(event.Consent)
		if len(all) != 1 || all[0].User != d.ada.Sub || all[0].App != d.app.ID || all[0].Status != 403 ||
			!strings.HasPrefix(all[0].Detail, event.DetailNotAdmitted) {
			t.Errorf("the trail has %+v", all)
		}
		d.person().signedIn().typeCode(begun.text("user_code")).has(t, "the code once more", "has been answered already")
	})
}

// A change between the question and the answer counts, and so does one between the answer and the poll.
func TestDeviceAsksAgainWhoMayUseItsApplication(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDevices(t, 1)
		store := d.nodes[0].store
		must(store.SaveGroup(t.Context(), groups.Group{Name: "ops"}))(t)
		must(store.AddMember(t.Context(), "ops", d.ada.Sub))(t)
		d.admit(d.app, []string{"group:ops"}, nil)

		begun := d.begin()
		p := d.person().signedIn()
		asked := p.typeCode(begun.text("user_code")).has(t, "the question", "Terminal")
		must(store.RemoveMember(t.Context(), "ops", d.ada.Sub))(t)
		if a := p.answer(asked, "allow"); a.status != 403 {
			t.Errorf("a yes of a removed member is answered with %d: %s", a.status, a.text)
		}
		time.Sleep(5 * time.Second)
		d.poll(d.nodes[0], begun).wants(t, "the poll", 400, 400, "access_denied")

		must(store.AddMember(t.Context(), "ops", d.ada.Sub))(t)
		begun = d.allowed()
		must(store.RemoveMember(t.Context(), "ops", d.ada.Sub))(t)
		time.Sleep(5 * time.Second)
		d.poll(d.nodes[0], begun).wants(t, "the poll of a removed member", 400, 400, "access_denied")
		must(store.AddMember(t.Context(), "ops", d.ada.Sub))(t)
		time.Sleep(5 * time.Second)
		tokens := d.poll(d.nodes[0], begun).tokens(t)
		must(store.RemoveMember(t.Context(), "ops", d.ada.Sub))(t)
		d.post(d.nodes[0], "/oauth/token", form("grant_type", "refresh_token", "client_id", d.app.ID, "refresh_token",
			tokens.text("refresh_token"))).wants(t, "the refresh", 400, 400, "invalid_grant")
	})
}

// An agent is admitted alike, and its page says nothing that it claims of itself.
func TestDeviceOfAnAgentIsAdmittedAlike(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDevices(t, 1)
		agent := d.stranger("https://tty.example.com/client.json", deviceGrant)
		d.admit(agent, nil, []string{"user:" + d.ada.Sub})
		begun := d.begin("client_id", agent.ID)
		shown := d.person().signedIn().typeCode(begun.text("user_code"))
		shown.has(t, "the page", "You may not use this application", "tty.example.com")
		if shown.status != 403 || strings.Contains(shown.text, "Your Bank") {
			t.Errorf("the page is %d: %s", shown.status, shown.text)
		}
		time.Sleep(5 * time.Second)
		d.poll(d.nodes[0], begun, "client_id", agent.ID).wants(t, "the poll", 400, 400, "access_denied")
	})
}

func TestDeviceIsNotAnsweredWhileGroupsCannotBeRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDevices(t, 1)
		must(d.nodes[0].store.SaveGroup(t.Context(), groups.Group{Name: "ops"}))(t)
		must(d.nodes[0].store.AddMember(t.Context(), "ops", d.ada.Sub))(t)
		d.admit(d.app, []string{"group:ops"}, nil)
		begun, p := d.begin(), d.person().signedIn()
		d.calls.away = "member"
		if a := p.typeCode(begun.text("user_code")); a.status != 503 {
			t.Errorf("the page is %d: %s", a.status, a.text)
		}
		d.calls.away = ""
		asked := p.typeCode(begun.text("user_code"))
		d.calls.away = "member"
		if a := p.answer(asked, "allow"); a.status != 503 {
			t.Errorf("the answer is %d: %s", a.status, a.text)
		}
		time.Sleep(5 * time.Second)
		d.poll(d.nodes[0], begun).wants(t, "the poll", 400, 400, "authorization_pending")
		d.calls.away = ""
		p.allow(begun)
		d.calls.away = "member"
		time.Sleep(5 * time.Second)
		if a := d.poll(d.nodes[0], begun); a.status != 503 || a.text("access_token") != "" {
			t.Errorf("the poll = %d %v", a.status, a.body)
		}
		d.calls.away = ""
		time.Sleep(5 * time.Second)
		d.poll(d.nodes[0], begun).tokens(t)
	})
}

// A document that is read again does not change which users its application admits.
func TestDocumentThatIsReadAgainKeepsWhoMayUseIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := inMemory(t)
		h.codeFor(vendordocs.ClaudeCode, claudeRedirect)
		app := must(h.store.App(t.Context(), vendordocs.ClaudeCode))(t)
		app.Admission = &access.Admission{Deny: []string{"user:" + h.user.Sub}}
		app.GroupFilter, app.Client.KeptAt, app.Client.ExpiresAt = []string{"team-*"}, time.Now(), time.Time{}
		h.register(app)
		for days := range 3 {
			if w := h.ask(vendordocs.ClaudeCode, claudeRedirect); w.Code != 403 {
				t.Errorf("after %d days authorize = %d: %s", days, w.Code, w.Body)
			}
			time.Sleep(24 * time.Hour)
		}
		if n := h.docs.Asked(vendordocs.ClaudeCode); n < 3 {
			t.Errorf("it was read %d times", n)
		}
		if now := must(h.store.App(t.Context(), app.ID))(t); now.Admission == nil || len(now.GroupFilter) != 1 {
			t.Errorf("it is %+v", now)
		}
	})
}
