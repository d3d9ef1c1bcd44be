package console_test

import (
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/keystile/keystile/storage"
)

// submit posts a form with an act and an id.
func (h *fixture) submit(path, cookie, do, id string, fields ...string) *httptest.ResponseRecorder {
	form := url.Values{"do": {do}, "form": {id}}
	for i := 0; i < len(fields); i += 2 {
		form.Set(fields[i], fields[i+1])
	}
	r := httptest.NewRequest("POST", base+path, strings.NewReader(form.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	r.Header.Set("User-Agent", "curl/8")
	return h.browse(r, cookie)
}

func TestOrderIsDecidedOnItsPageByAnAdministratorAlone(t *testing.T) {
	h := newFixture(t)
	root, mina, ada, aud := h.testUser("root", storage.RoleAdmin), h.testUser("mina", storage.RoleDeveloper),
		h.testUser("ada", ""), h.testUser("aud", storage.RoleAuditor)
	app, order := h.waits(h.app("Shop", mina.Sub))
	page := "/console/orders/" + order
	for cookie, want := range map[string]struct {
		status        int
		approve, take bool
	}{root.cookie: {200, true, true}, mina.cookie: {200, false, true}, aud.cookie: {200, false, false},
		ada.cookie: {404, false, false}, "": {401, false, false}} {
		w := h.open(page, cookie)
		approve, take := strings.Contains(w.Body.String(), `value="approve"`), strings.Contains(w.Body.String(), `value="cancel"`)
		if w.Code != want.status || approve != want.approve || take != want.take {
			t.Errorf("the page is %d, can approve %v, can cancel %v, want %+v", w.Code, approve, take, want)
		}
	}
	id := h.formOn(h.open(page, root.cookie))
	for name, w := range map[string]*httptest.ResponseRecorder{
		"no id":             h.submit(page, root.cookie, "approve", ""),
		"another session's": h.submit(page, root.cookie, "approve", h.formOn(h.open(page, mina.cookie))),
		"another page's":    h.submit(page, root.cookie, "approve", h.formOn(h.open("/console/tiers", root.cookie))),
		"a developer":       h.submit(page, mina.cookie, "approve", h.formOn(h.open(page, mina.cookie))),
		"an auditor":        h.submit(page, aud.cookie, "cancel", id),
		"a bad day":         h.submit(page, root.cookie, "approve", h.formOn(h.open(page, root.cookie)), "until", "soon"),
	} {
		if w.Code != 400 && w.Code != 403 {
			t.Errorf("%s: %d %s", name, w.Code, w.Body)
		}
	}
	if o := must(h.store.Order(t.Context(), order))(t); o.Status != storage.OrderPending || len(h.events) > 0 {
		t.Fatalf("a refused form did something: %+v %s", o, h.trail())
	}
	if w := h.submit(page, root.cookie, "reject", id, "reason", "<script>alert(1)</script>"); w.Code != 303 {
		t.Fatalf("rejecting is %d %s", w.Code, w.Body)
	}
	if w := h.submit(page, root.cookie, "reject", id); w.Code != 409 {
		t.Errorf("the same form again is %d", w.Code)
	}
	if trail := h.trail(); !strings.Contains(trail, `status "pending" -> "rejected"`) || !strings.Contains(trail, root.Sub) {
		t.Errorf("the trail is %s", trail)
	}
	if w := h.open(page, mina.cookie); strings.Contains(w.Body.String(), "<script>alert") ||
		!strings.Contains(w.Body.String(), "&lt;script&gt;alert") {
		t.Errorf("the reason is shown as %s", w.Body)
	}
	if len(h.forgot) == 0 || h.forgot[0] != app.ID {
		t.Error("the gateway was not told")
	}
}

func TestListOfOrdersBeginsWithThoseThatWaitForAnAdministrator(t *testing.T) {
	h := newFixture(t)
	root, mina, ada := h.testUser("root", storage.RoleAdmin), h.testUser("mina", storage.RoleDeveloper),
		h.testUser("ada", "")
	_, waits := h.waits(h.app("Shop", mina.Sub))
	_, done := h.waits(h.app("Mart", ada.Sub))
	h.do("POST", "/api/console/orders/"+done+"/reject", root.cookie, `{}`)
	for _, c := range []struct {
		path, cookie string
		want         []bool // waits, done
	}{
		{"/console/orders", root.cookie, []bool{true, false}},
		{"/console/orders?status=all", root.cookie, []bool{true, true}},
		{"/console/orders?status=rejected", root.cookie, []bool{false, true}},
		{"/console/orders", ada.cookie, []bool{false, true}},
		{"/console/orders?status=all", mina.cookie, []bool{true, false}},
	} {
		body := h.open(c.path, c.cookie).Body.String()
		if strings.Contains(body, waits) != c.want[0] || strings.Contains(body, done) != c.want[1] {
			t.Errorf("%s is not %v: %s", c.path, c.want, body)
		}
	}
}

func TestTierIsSetOnAPageWithWhatItWasOnTheTrail(t *testing.T) {
	h := newFixture(t)
	root, mina := h.testUser("root", storage.RoleAdmin), h.testUser("mina", storage.RoleDeveloper)
	app, order := h.waits(h.app("Shop", mina.Sub))
	if w := h.open("/console/tiers", mina.cookie); w.Code != 200 || strings.Contains(w.Body.String(), `name="form"`) || !strings.Contains(w.Body.String(), "999.00") {
		t.Errorf("a developer sees %d %s", w.Code, w.Body)
	}
	w := h.submit("/console/tiers", root.cookie, "set", h.formOn(h.open("/console/tiers", root.cookie)), "client_id",
		app.ID, "tier", "white_label", "until", "2199-05-01")
	now := must(h.store.App(t.Context(), app.ID))(t)
	if w.Code != 303 || now.TierAt(time.Now()) != "white_label" {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	if o := must(h.store.Order(t.Context(), order))(t); o.Status != storage.OrderCanceled {
		t.Errorf("the order that waited is %s", o.Status)
	}
	if trail := h.trail(); !strings.Contains(trail, "tier free -> white_label until 2199-05-01T00:00:00Z") {
		t.Errorf("the trail is %s", trail)
	}
	if w := h.open("/console/quota?app="+app.ID, mina.cookie); w.Code != 200 ||
		!strings.Contains(w.Body.String(), "50,000") {
		t.Errorf("the quota is %d %s", w.Code, w.Body)
	}
	if w := h.open("/console/quota?app="+h.app("Other", root.Sub).ID, mina.cookie); w.Code != 404 {
		t.Errorf("the quota of another's is %d", w.Code)
	}
	if w := h.open("/console/quota", mina.cookie); !strings.Contains(w.Body.String(), "app="+app.ID) {
		t.Errorf("there is nothing to choose: %s", w.Body)
	}
}
