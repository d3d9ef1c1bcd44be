package console_test

import (
	"context"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/keystile/keystile/gateway/console"
	"github.com/keystile/keystile/storage"
)

// waiting are accounts whose attempts wait; the zero time: they do not.
type waiting struct {
	locked
	known bool
	until map[string]time.Time
}

func (w *waiting) WaitUntil(_ context.Context, u storage.User) (time.Time, bool) {
	return w.until[u.Sub], w.known
}

func (w *waiting) UnlockUser(_ context.Context, u storage.User) bool {
	_, was := w.until[u.Sub]
	delete(w.until, u.Sub)
	return was
}

func TestUserWhoseSignInsWaitIsShownAsOneAndLetInAgain(t *testing.T) {
	w := &waiting{locked{}, true, map[string]time.Time{}}
	h := newFixture(t, func(c *console.Config) { c.Lockout, c.Delays = w, w })
	root, eve := h.testUser("root", storage.RoleAdmin), h.testUser("eve", "")
	w.until[eve.Sub] = time.Date(2031, 7, 1, 12, 0, 0, 1, time.UTC)
	show := func(query string) string { return h.open("/console/users/"+eve.Sub+query, root.cookie).Body.String() }
	record := func() answer { return h.call("GET", "/api/console/users/"+eve.Sub, root.cookie, nil) }

	if text := show(""); !strings.Contains(text, "attempts from unknown browsers wait until") ||
		!strings.Contains(text, "2031-07-01T12:00:01Z") || strings.Contains(text, "no sign-in waits") {
		t.Errorf("a user whose sign-ins wait is shown as %s", text)
	}
	if text := show("?lang=zh-CN"); !strings.Contains(text, "陌生浏览器的登录须等待至") {
		t.Errorf("in Chinese it is %s", text)
	}
	if a := record(); a.body.Data["wait_until"] != "2031-07-01T12:00:01Z" {
		t.Errorf("the record is %s", a.text)
	}
	w.known = false
	if text, a := show(""), record(); strings.Contains(text, "Failed sign-ins") || strings.Contains(a.text, "wait_until") {
		t.Errorf("what cannot be read is shown as %s %s", text, a.text)
	}
	w.known = true
	a := h.do("POST", "/api/console/users/"+eve.Sub+"/unlock", root.cookie, `{"address":"192.0.2.7"}`)
	if a.status != 200 || a.body.Data["account"] != true || !strings.Contains(h.trail(),
		"failed sign-ins at the account -> forgotten") {
		t.Errorf("letting in is %d %s, the trail %s", a.status, a.text, h.trail())
	}
	if text, a := show(""), record(); !strings.Contains(text, "no sign-in waits") || !strings.Contains(a.text, `"wait_until":null`) {
		t.Errorf("let in again, it is %s %s", text, a.text)
	}
	w.until[eve.Sub] = time.Now().Add(time.Minute)
	if code := h.act("/console/users/"+eve.Sub, root, url.Values{"do": {"unlock"}, "address": {"here"}}); code != 400 ||
		len(w.until) != 1 {
		t.Errorf("with an address that is none it is %d, waiting are %v", code, w.until)
	}
}
