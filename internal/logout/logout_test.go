package logout_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/keystile/keystile/internal/logout"
	"github.com/keystile/keystile/internal/record/notify"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/memory"
)

// party is a store with applications that are told of the end of sessions, and one that is not.
type party struct {
	*testing.T
	store *storage.Store
	apps  []storage.App
	deaf  storage.App
}

func newParty(t *testing.T, n int) *party {
	t.Helper()
	store, err := storage.Open(t.Context(), memory.New(), storage.NewMasterKey())
	if err != nil {
		t.Fatal(err)
	}
	p := &party{T: t, store: store}
	for i := range n {
		host := fmt.Sprintf("app%d.example.com", i)
		p.apps = append(p.apps, p.save(storage.App{Name: host, Domains: []string{host},
			BackchannelLogoutURI: "https://" + host + "/out"}))
	}
	p.deaf = p.save(storage.App{Name: "Deaf", Domains: []string{"deaf.example.com"}})
	return p
}

func (p *party) save(a storage.App) storage.App {
	p.Helper()
	a, err := p.store.SaveApp(p.Context(), a)
	p.must(err)
	return a
}

func (p *party) must(err error) {
	p.Helper()
	if err != nil {
		p.Fatal(err)
	}
}

func (p *party) session(id, sub string) storage.Session {
	p.Helper()
	v, err := p.store.SaveSession(p.Context(), storage.Session{ID: id, UserID: sub, AuthTime: time.Now(),
		ExpiresAt: time.Now().Add(time.Hour), EndsAt: time.Now().Add(time.Hour)})
	p.must(err)
	return v
}

func (p *party) join(v storage.Session, a storage.App) string {
	p.Helper()
	sid, err := p.store.JoinSession(p.Context(), v, a.ID)
	p.must(err)
	return sid
}

func revoke(ctx context.Context, store *storage.Store, r driver.Revocation) error {
	_, err := logout.Revoke(ctx, store, r)
	return err
}

// end ends the newest state of a session.
func (p *party) end(id string) {
	p.Helper()
	v, err := p.store.Session(p.Context(), id)
	p.must(err)
	p.must(logout.End(p.Context(), p.store, v))
}

// told lists what waits for an application.
func (p *party) told(a storage.App) (all []notify.Logout) {
	p.Helper()
	waiting, err := p.store.Deliveries(p.Context(), notify.App(a.ID))
	p.must(err)
	for _, d := range waiting {
		l, err := notify.ReadLogout(d.Payload)
		p.must(err)
		all = append(all, l)
	}
	return all
}

func (p *party) wantTold(a storage.App, want ...notify.Logout) {
	p.Helper()
	if got := p.told(a); !slices.Equal(got, want) {
		p.Errorf("%s is told %+v, want %+v", a.Name, got, want)
	}
}

func TestEndOfASessionIsToldToThoseThatItHasGivenACode(t *testing.T) {
	p := newParty(t, 3)
	v := p.session("s1", "u1")
	sid0, sid1 := p.join(v, p.apps[0]), p.join(v, p.apps[1])
	p.join(p.session("s2", "u1"), p.apps[2])
	if sid0 == "" || sid0 == sid1 || strings.Contains(sid0, "s1") {
		t.Errorf("the sids are %q and %q, want two that say nothing", sid0, sid1)
	}
	p.end("s1")
	p.wantTold(p.apps[0], notify.Logout{Sub: "u1", SID: sid0})
	p.wantTold(p.apps[1], notify.Logout{Sub: "u1", SID: sid1})
	p.wantTold(p.apps[2])
}

func TestSessionIsWrittenForTheFirstCodeOfAnApplicationOnly(t *testing.T) {
	p := newParty(t, 1)
	v := p.session("s1", "u1")
	sid := p.join(v, p.apps[0])
	joined, err := p.store.Session(t.Context(), "s1")
	p.must(err)
	if again := p.join(joined, p.apps[0]); again != sid {
		t.Errorf("the second code has the sid %q, want %q as the first", again, sid)
	}
	if stale := p.join(v, p.apps[0]); stale != sid { // as it was read before the first
		t.Errorf("a request that began before has the sid %q, want %q", stale, sid)
	}
	if now, err := p.store.Session(t.Context(), "s1"); err != nil || now.Version != joined.Version {
		t.Errorf("the session has the version %d, %v, want %d as after the first code", now.Version, err, joined.Version)
	}
}

func TestSIDIsNotGivenToUnlistedApplications(t *testing.T) {
	p := newParty(t, storage.MaxSessionApps+1)
	v := p.session("s1", "u1")
	for i, a := range p.apps {
		if sid := p.join(v, a); (sid == "") != (i == storage.MaxSessionApps) {
			t.Errorf("application %d has the sid %q", i, sid)
		}
	}
	p.end("s1") // all of them in one step
	p.wantTold(p.apps[storage.MaxSessionApps])
	if n := len(p.told(p.apps[storage.MaxSessionApps-1])); n != 1 {
		t.Errorf("the last on the list is told %d times, want once", n)
	}
	if sid := p.join(storage.Session{ID: "elsewhere", UserID: "u1"}, p.apps[0]); sid != "" {
		t.Errorf("a session of a host's own has the sid %q, want none", sid)
	}
	if _, err := p.store.JoinSession(t.Context(), v, p.apps[0].ID); !errors.Is(err, storage.ErrNotFound) {
		t.Errorf("JoinSession() of an ended session = %v, want ErrNotFound", err)
	}
}

// A session goes on in the one that its user begins in the same browser: it is known by the same sid.
func TestSIDIsThatOfTheSessionThatWentBefore(t *testing.T) {
	p := newParty(t, 1)
	v := p.session("s1", "u1")
	sid := p.join(v, p.apps[0])
	next := p.session("s2", "u1")
	next.Root, next.Apps = "s1", []string{p.apps[0].ID}
	next, err := p.store.SaveSession(t.Context(), next)
	p.must(err)
	if again := p.join(next, p.apps[0]); again != sid {
		t.Errorf("the next session has the sid %q, want %q", again, sid)
	}
	p.end("s2")
	p.wantTold(p.apps[0], notify.Logout{Sub: "u1", SID: sid})
}

func TestRevocationOfAUserIsToldToAllThatTheUserHasMet(t *testing.T) {
	p := newParty(t, 120) // more than one step writes
	for _, a := range append(slices.Clone(p.apps[1:]), p.deaf) {
		_, err := p.store.EnsureOpenID(t.Context(), a.ID, "u1")
		p.must(err)
	}
	p.must(revoke(t.Context(), p.store, driver.Revocation{Kind: driver.RevokeUser, ID: "u1", Before: time.Now()}))
	p.wantTold(p.apps[0]) // u1 has never been there
	for _, a := range p.apps[1:] {
		p.wantTold(a, notify.Logout{Sub: "u1"})
	}
	p.wantTold(p.deaf)
	p.must(revoke(t.Context(), p.store, driver.Revocation{Kind: driver.RevokeApp, ID: p.apps[1].ID, Before: time.Now()}))
	p.wantTold(p.apps[1], notify.Logout{Sub: "u1"})
}

func TestApplicationThatIsDisabledOrHasNoAddressLeftIsNotTold(t *testing.T) {
	p := newParty(t, 3)
	v := p.session("s1", "u1")
	for _, a := range p.apps {
		p.join(v, a)
	}
	p.apps[0].Disabled = true
	p.apps[0] = p.save(p.apps[0])
	p.apps[1].BackchannelLogoutURI = ""
	p.apps[1] = p.save(p.apps[1])
	p.must(p.store.DeleteApp(t.Context(), p.apps[2], storage.Quota{}))
	p.end("s1")
	for _, a := range p.apps {
		p.wantTold(a)
	}
}

func (p *party) signOutEverywhere(sub string, a storage.App) {
	p.Helper()
	_, err := p.store.EnsureOpenID(p.Context(), a.ID, sub)
	p.must(err)
	p.must(revoke(p.Context(), p.store, driver.Revocation{Kind: driver.RevokeUser, ID: sub, Before: time.Now()}))
}

func TestFullQueueDropsTheOldestThatWasNotTriedAndCountsIt(t *testing.T) {
	p := newParty(t, 1)
	for i := range storage.MaxTold + 3 {
		p.signOutEverywhere(fmt.Sprint("u", i), p.apps[0])
	}
	waiting, err := p.store.Deliveries(t.Context(), notify.App(p.apps[0].ID))
	p.must(err)
	dropped := 0
	for _, d := range waiting {
		dropped += d.Dropped
	}
	if len(waiting) != storage.MaxTold || dropped != 3 {
		t.Errorf("%d wait, and %d are counted as dropped, want %d and 3", len(waiting), dropped, storage.MaxTold)
	}
	if all := p.told(p.apps[0]); all[0].Sub != "u0" || all[1].Sub != "u4" {
		t.Errorf("the first are %v and %v, want u0, which may be on its way, and u4", all[0], all[1])
	}
}

func TestQueueOfAnApplicationIsNotFilledByOneUser(t *testing.T) {
	p := newParty(t, 1)
	p.signOutEverywhere("u0", p.apps[0])
	for range 20 {
		p.signOutEverywhere("u1", p.apps[0])
	}
	p.wantTold(p.apps[0], notify.Logout{Sub: "u0"}, notify.Logout{Sub: "u1"})
}

func TestLogoutMessagesAreNotAmongTheWebhooksOfCapabilities(t *testing.T) {
	p := newParty(t, 1)
	p.join(p.session("s1", "u1"), p.apps[0])
	p.end("s1")
	far := time.Now().Add(time.Minute)
	hooks, err := p.store.DueDeliveries(t.Context(), far, 10)
	p.must(err)
	due, err := p.store.DueTold(t.Context(), far, 10)
	p.must(err)
	if len(hooks) != 0 || len(due) != 1 || due[0].ExpiresAt.Sub(due[0].CreatedAt) != storage.LogoutLife {
		t.Errorf("due are %d webhooks and %+v, want one logout for %v", len(hooks), due, storage.LogoutLife)
	}
	select {
	case <-p.store.Queued():
	default:
		t.Error("nobody is woken to send it")
	}
}

func TestLogoutAddressIsOneOfTheApplicationsHosts(t *testing.T) {
	good := storage.App{Name: "App", Domains: []string{"app.example.com", "localhost", "10.0.0.7"},
		RedirectURIs: []string{"https://app.example.com/cb"}}
	for uri, allowed := range map[string]bool{
		"https://app.example.com/out":          true,
		"https://app.example.com:8443/out?x=1": true,
		"http://localhost:3000/out":            true,
		"http://app.example.com/out":           false,
		"https://evil.example.com/out":         false,
		"https://app.example.com/out#x":        false,
		"https://u:p@app.example.com/out":      false,
		"https://app.example.com.evil.net/":    false,
		"http://10.0.0.7/out":                  false,
		"javascript:alert(1)":                  false,
		"//app.example.com/out":                false,
	} {
		for _, http := range []bool{false, true} { // which is for redirects alone
			a := good
			a.AllowHTTPRedirect, a.BackchannelLogoutURI = http, uri
			_, err := newParty(t, 0).store.SaveApp(t.Context(), a)
			if allowed != (err == nil) || err != nil && !strings.Contains(err.Error(), "backchannel_logout_uri") {
				t.Errorf("%s: SaveApp() = %v, want allowed %t", uri, err, allowed)
			}
		}
	}
}

// stopping fails every write once it is told to.
type stopping struct {
	driver.Backend
	stopped bool
}

func (s *stopping) Put(ctx context.Context, docs ...driver.Doc) (int64, error) {
	if s.stopped {
		return 0, errors.New("no power")
	}
	return s.Backend.Put(ctx, docs...)
}

func TestSessionNeverEndsWithoutItsLogoutMessages(t *testing.T) {
	b := &stopping{Backend: memory.New()}
	store, err := storage.Open(t.Context(), b, storage.NewMasterKey())
	p := &party{T: t, store: store}
	p.must(err)
	a := p.save(storage.App{Name: "App", Domains: []string{"app.example.com"},
		BackchannelLogoutURI: "https://app.example.com/out"})
	p.join(p.session("s1", "u1"), a)
	v, err := store.Session(t.Context(), "s1")
	p.must(err)
	b.stopped = true
	if err := logout.End(t.Context(), store, v); err == nil {
		t.Fatal("End() = nil, want the error of the store")
	}
	b.stopped = false
	if _, err := store.Session(t.Context(), "s1"); err != nil || len(p.told(a)) != 0 {
		t.Errorf("the session is %v, and %+v is told: want it to go on and nothing told", err, p.told(a))
	}
	p.must(logout.End(t.Context(), store, v))
	if len(p.told(a)) != 1 {
		t.Errorf("%+v is told, want its end", p.told(a))
	}
}
