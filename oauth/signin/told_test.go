package signin

import (
	"context"
	"net/http/httptest"
	"testing"

	"github.com/keystile/keystile/internal/handle"
	"github.com/keystile/keystile/internal/logout"
	"github.com/keystile/keystile/internal/record/notify"
	"github.com/keystile/keystile/oauth/signin/internal/account"
	"github.com/keystile/keystile/oauth/signin/internal/newpassword"
	"github.com/keystile/keystile/storage/driver"
)

// toldFixture is an account fixture whose revocations reach the store, and whose application Acme is told of the
// end of sessions.
type toldFixture struct {
	*accountFixture
}

type storeRevoker struct{ store *flaky }

func (r *storeRevoker) Revoke(ctx context.Context, rs ...driver.Revocation) error {
	_, err := logout.Revoke(ctx, r.store.Store, rs...)
	return err
}

func newToldFixture(t *testing.T) toldFixture {
	t.Helper()
	revoker := &storeRevoker{}
	d := toldFixture{newAccountFixture(t, func(c *Config) { c.Revoker = revoker })}
	revoker.store = d.store
	app, err := d.store.App(context.Background(), "ksacme")
	must(t, err)
	app.BackchannelLogoutURI = "https://app.example.com/out"
	_, err = d.store.SaveApp(context.Background(), app)
	must(t, err)
	_, err = d.store.EnsureOpenID(context.Background(), "ksacme", d.mina.Sub)
	must(t, err)
	return d
}

// joins has a session give Acme a code, and returns its sid.
func (d toldFixture) joins(cookie string) string {
	d.t.Helper()
	v, err := d.store.Store.Session(context.Background(), handle.Hash(cookie))
	must(d.t, err)
	sid, err := d.store.JoinSession(context.Background(), v, "ksacme")
	must(d.t, err)
	return sid
}

// wantTold fails unless Acme was told so since the last call.
func (d toldFixture) wantTold(what string, want ...string) {
	d.t.Helper()
	all, err := d.store.Deliveries(context.Background(), notify.App("ksacme"))
	must(d.t, err)
	if len(all) != len(want) {
		d.t.Errorf("%s: Acme is told %d times, want %q", what, len(all), want)
		return
	}
	for i, v := range all {
		if l, err := notify.ReadLogout(v.Payload); err != nil || l.Sub != d.mina.Sub || l.SID != want[i] {
			d.t.Errorf("%s: Acme is told %+v, %v, want the sid %q", what, l, err, want[i])
		}
	}
	for range all {
		v, err := d.store.FirstDelivery(context.Background(), notify.App("ksacme"))
		must(d.t, err)
		must(d.t, d.store.DeleteDelivery(context.Background(), v))
	}
}

func TestEndOfASessionIsTold(t *testing.T) {
	d := newToldFixture(t)
	here, there := d.enterMina(), d.enterMina()
	sid, sid2 := d.joins(here), d.joins(there)
	must(t, d.SignOut(httptest.NewRecorder(), get("/oauth/logout", here)))
	d.wantTold("signed out", sid)
	must(t, d.SignOut(httptest.NewRecorder(), get("/oauth/logout", here)))
	d.wantTold("signed out again")
	at := d.enterMina()
	d.do(sends(account.SessionPath, "cookie", at, "session", handle.Hash(there)))
	d.wantTold("ended on the account page", sid2)
}

func TestSignOutEverywhereIsToldOnce(t *testing.T) {
	d := newToldFixture(t)
	here, there := d.enterMina(), d.enterMina()
	d.joins(here)
	d.joins(there)
	if a := d.do(sends(account.EverywherePath, "cookie", here)); a.Code != 303 {
		t.Fatalf("signing out everywhere = %d", a.Code)
	}
	d.wantTold("signed out everywhere", "")
	here = d.enterMina()
	d.joins(here)
	if a := d.do(sends(newpassword.Path, "cookie", here, "current", password, "password",
		"an uncommon sentence")); a.Code != 303 {
		t.Fatalf("changing the password = %d %s", a.Code, a.body)
	}
	d.wantTold("changed the password", "")
}

func TestSignInOnceMoreIsNoLogout(t *testing.T) {
	d := newToldFixture(t)
	first := d.enterMina()
	sid := d.joins(first)
	again := d.do(with(post("username", "mina", "password", password), first)).cookie()
	d.wantTold("signed in once more")
	if got := d.joins(again); got != sid {
		t.Errorf("then the sid is %q, want %q as before", got, sid)
	}
	must(t, d.SignOut(httptest.NewRecorder(), get("/oauth/logout", again)))
	d.wantTold("signed out", sid)

	first, second := d.enterMina(), d.enterMina()
	sid, sid2 := d.joins(first), d.joins(second)
	d.do(with(post("username", "mina", "password", password), first, second))
	d.wantTold("signed in with two cookies, of which nobody knows which is real", sid, sid2)

	d.ada()
	mina := d.enterMina()
	sid = d.joins(mina)
	d.do(with(post("username", "ada", "password", password), mina))
	d.wantTold("somebody else signed in", sid)
}
