package legacy_test

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/keystile/keystile/legacy"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/access"
	"github.com/keystile/keystile/storage/event"
	"github.com/keystile/keystile/storage/groups"
)

// inGroup makes a group that alone may use the first application, with Ada in it.
func (h *fixture) inGroup() {
	h.Helper()
	must(h.store.SaveGroup(context.Background(), groups.Group{Name: "ops"}))(h)
	must(h.store.AddMember(context.Background(), "ops", h.ada.Sub))(h)
	h.change(func(a *storage.App) {
		a.Admission = &access.Admission{Allow: []string{"group:ops"}}
	})
}

// ssoTo returns where Ada's browser is sent that asks whether she is signed in.
func (h *fixture) ssoTo() string {
	r := request("GET", "/connect.php", form("act", "check_sso", "appid", "1000", "redirect_uri", redirect))
	r.AddCookie(&http.Cookie{Name: "open_sso_token", Value: h.session})
	return h.serve(r).Header().Get("Location")
}

// asked returns what the application is told that asks from Ada's browser, by its appkey.
func (h *fixture) asked() answer {
	r := request("GET", "/connect.php", form("act", "check_sso", "appid", "1000", "appkey", appKey))
	r.AddCookie(&http.Cookie{Name: "open_sso_token", Value: h.session})
	return h.call(r)
}

func (h *fixture) outOfGroup() {
	h.Helper()
	must(h.store.RemoveMember(context.Background(), "ops", h.ada.Sub))(h)
}

func TestOldEndpointsAskAgainWhoMayUseAnApplication(t *testing.T) {
	h := newFixture(t)
	h.inGroup()
	first, second := h.code(), h.code()
	a := h.callback(first).wants(t, "callback", 1)
	if to := h.ssoTo(); !strings.Contains(to, "sso=1&") {
		t.Errorf("check_sso of a member leads to %q", to)
	}
	if got := h.asked(); got.text("social_uid") != a.text("social_uid") {
		t.Errorf("check_sso of a member tells %s", got.raw)
	}
	h.outOfGroup()
	check := h.call(request("GET", "/check_token.php", form("token", a.text("access_token"))))
	for what, got := range map[string]answer{
		"callback":    h.callback(second).refuses(t, "callback", 107),
		"query":       h.connect("query", "social_uid", a.text("social_uid")).refuses(t, "query", 106),
		"check_token": check.refuses(t, "check_token", 401),
	} {
		if got.text("nickname") != "" {
			t.Errorf("%s tells %s", what, got.raw)
		}
		if !slices.ContainsFunc(h.trail.events, func(e event.Event) bool {
			return strings.HasPrefix(e.Detail, event.DetailNotAdmitted+": "+what) && e.User == h.ada.Sub && e.Status >= 400
		}) {
			t.Errorf("%s is not on the trail: %+v", what, h.trail.events)
		}
	}
	if to := h.ssoTo(); !strings.HasSuffix(to, "sso=0") {
		t.Errorf("check_sso leads to %q", to)
	}
	if got := h.asked(); got.body["logged_in"] != true || got.text("social_uid") != "" {
		t.Errorf("check_sso tells %s", got.raw)
	}
	must(h.store.AddMember(t.Context(), "ops", h.ada.Sub))(t)
	h.callback(second).wants(t, "callback of a code that was refused", 1)
}

// The page is that of authorize, and its link leads back with the error and the state.
func TestSignInOfTheOldEndpointsIsRefusedOnAPage(t *testing.T) {
	h := newFixture(t)
	h.inGroup()
	h.outOfGroup()
	at := h.connect("login", "type", "self", "redirect_uri", redirect, "state", "xyz").wants(t, "login", 1).text("url")
	to := must(url.Parse(at))(t)
	r := request("GET", to.Path, to.Query())
	r.AddCookie(&http.Cookie{Name: "open_sso_token", Value: h.session})
	w := h.serve(r)
	if text := w.Body.String(); w.Code != 403 || !strings.Contains(text, `href="`+redirect+`?error=access_denied&amp;`) ||
		!strings.Contains(text, "state=xyz") {
		t.Errorf("the page is %d: %s", w.Code, text)
	}
}

func TestOldEndpointsTellNothingWhileGroupsCannotBeRead(t *testing.T) {
	away := &noGroups{}
	h := newFixture(t, func(c *legacy.Config) { away.Store, c.Store = c.Store, away })
	h.inGroup()
	first, second := h.code(), h.code()
	a := h.callback(first).wants(t, "callback", 1)
	away.on = true
	for what, got := range map[string]answer{
		"callback":    h.callback(second),
		"query":       h.connect("query", "social_uid", a.text("social_uid")),
		"check_token": h.call(request("GET", "/check_token.php", form("token", a.text("access_token")))),
	} {
		if got.status != 503 || got.text("nickname") != "" || got.body["valid"] == true {
			t.Errorf("%s = %d %s", what, got.status, got.raw)
		}
	}
	away.on = false
	h.callback(second).wants(t, "callback afterwards", 1)
}

// noGroups is a Store that cannot tell whom an application admits.
type noGroups struct {
	legacy.Store
	on bool
}

func (n *noGroups) Admits(ctx context.Context, a storage.App, u storage.User) (bool, error) {
	if n.on {
		return false, storage.ErrUnavailable
	}
	return n.Store.Admits(ctx, a, u)
}
