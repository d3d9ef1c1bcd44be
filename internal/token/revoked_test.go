package token

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/keystile/keystile/internal/handle"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/driver"
)

func TestRevocationCovers(t *testing.T) {
	at := time.Date(2026, 8, 1, 12, 0, 0, 0, time.UTC)
	c := storage.Caller{AppID: "app1", UserID: "u1", TokenID: "j1", Grant: "g1", GrantedAt: at}
	own := storage.Caller{AppID: "app1", TokenID: "j2", Grant: "g2", GrantedAt: at}
	for _, test := range []struct {
		name      string
		r         driver.Revocation
		user, app bool
	}{
		{"its grant", driver.Revocation{Kind: driver.RevokeGrant, ID: "g1"}, true, false},
		{"another grant", driver.Revocation{Kind: driver.RevokeGrant, ID: "g3"}, false, false},
		{"its jti", driver.Revocation{Kind: driver.RevokeJTI, ID: "j1"}, true, false},
		{"its jti as a grant", driver.Revocation{Kind: driver.RevokeGrant, ID: "j1"}, false, false},
		{"its app, afterwards", driver.Revocation{Kind: driver.RevokeApp, ID: "app1", Before: at.Add(1)}, true, true},
		{"its app, at that moment", driver.Revocation{Kind: driver.RevokeApp, ID: "app1", Before: at}, false, false},
		{"its app, earlier", driver.Revocation{Kind: driver.RevokeApp, ID: "app1", Before: at.Add(-1)}, false, false},
		{"another app", driver.Revocation{Kind: driver.RevokeApp, ID: "app2", Before: at.Add(1)}, false, false},
		{"its user, afterwards", driver.Revocation{Kind: driver.RevokeUser, ID: "u1", Before: at.Add(1)}, true, false},
		{"its user, at that moment", driver.Revocation{Kind: driver.RevokeUser, ID: "u1", Before: at}, false, false},
		{"its user as an app", driver.Revocation{Kind: driver.RevokeApp, ID: "u1", Before: at.Add(1)}, false, false},
		{"its consent, afterwards", driver.Revocation{Kind: driver.RevokeConsent, ID: driver.ConsentID("app1", "u1"),
			Before: at.Add(1)}, true, false},
		{"its consent, at that moment", driver.Revocation{Kind: driver.RevokeConsent, ID: driver.ConsentID("app1", "u1"),
			Before: at}, false, false},
		{"its user's consent to another app", driver.Revocation{Kind: driver.RevokeConsent,
			ID: driver.ConsentID("app2", "u1"), Before: at.Add(1)}, false, false},
		{"another user's consent to its app", driver.Revocation{Kind: driver.RevokeConsent,
			ID: driver.ConsentID("app1", "u2"), Before: at.Add(1)}, false, false},
		{"nobody's consent to its app", driver.Revocation{Kind: driver.RevokeConsent, ID: driver.ConsentID("app1", ""),
			Before: at.Add(1)}, false, false},
		{"an unknown kind", driver.Revocation{Kind: "all", ID: "u1", Before: at.Add(1)}, false, false},
	} {
		r := opened(t, &wire{})
		if err := r.Revoke(t.Context(), test.r); err != nil {
			t.Fatal(err)
		}
		if got := r.Stops(c); got != test.user {
			t.Errorf("%s: Stops(a user's token) = %v, want %v", test.name, got, test.user)
		}
		if got := r.Stops(own); got != test.app {
			t.Errorf("%s: Stops(an application's token) = %v, want %v", test.name, got, test.app)
		}
	}
}

func TestAskingTheRevocationsAllocatesNothing(t *testing.T) {
	r := opened(t, &wire{})
	if err := r.Revoke(t.Context(), driver.Revocation{Kind: driver.RevokeConsent, ID: "ks0/u0",
		Before: time.Now()}); err != nil {
		t.Fatal(err)
	}
	c := storage.Caller{AppID: handle.NewAppID(), UserID: "u" + handle.NewAppID() + "abcd", GrantedAt: time.Now()}
	if n := testing.AllocsPerRun(100, func() { r.Stops(c) }); n != 0 {
		t.Errorf("Stops() allocates %v times", n)
	}
}

func TestRevocationWorksBeforeRevokeReturns(t *testing.T) {
	v, _ := verifier(t, ES256)
	first, after := genuine(), genuine()
	after.ID = "j2"
	after.Grant = handle.NewGrant(time.Now().Add(time.Second))
	old, again := mint(t, v.keys, func(c *Claims) { *c = first }), mint(t, v.keys, func(c *Claims) { *c = after })
	v.Verify(t.Context(), old)
	stop := driver.Revocation{Kind: driver.RevokeUser, ID: "u1", Before: handle.GrantTime(first.Grant).Add(1),
		Until: time.Now().Add(week)}
	if err := v.revoked.Revoke(t.Context(), stop); err != nil {
		t.Fatalf("Revoke() = %v, want no error", err)
	}
	if _, err := v.Verify(t.Context(), old); !errors.Is(err, ErrInvalid) {
		t.Errorf("Verify(remembered, of a revoked grant) = %v, want ErrInvalid", err)
	}
	if _, err := v.Verify(t.Context(), again); err != nil {
		t.Errorf("Verify(of a grant given afterwards) = %v, want no error", err)
	}
	restarted := opened(t, v.revoked.feed)
	if !restarted.Stops(storage.Caller{UserID: "u1", GrantedAt: handle.GrantTime(first.Grant)}) {
		t.Error("after a restart the revocation is gone")
	}
}

func TestRevocationThatIsNotStoredIsReported(t *testing.T) {
	w := &wire{}
	r := opened(t, w)
	w.fail(errAway)
	if err := r.Revoke(t.Context(), driver.Revocation{Kind: driver.RevokeJTI, ID: "j1"}); !errors.Is(err, errAway) {
		t.Errorf("Revoke() = %v, want %v", err, errAway)
	}
	if r.Stops(storage.Caller{TokenID: "j1"}) {
		t.Error("Stops() = true for what is not stored and would come back with a restart")
	}
	if r, err := OpenRevoked(t.Context(), w); !errors.Is(err, errAway) || r != nil {
		t.Errorf("OpenRevoked() = %v, %v, want %v", r, err, errAway)
	}
}

func TestWholeFeedIsRead(t *testing.T) {
	w := &wire{}
	for i := range 2*driver.Page + 1 {
		w.RestoreRevocations(t.Context(), driver.Revocation{Kind: driver.RevokeJTI, ID: strconv.Itoa(i)})
	}
	r := opened(t, w)
	for i := range 2*driver.Page + 1 {
		if !r.Stops(storage.Caller{TokenID: strconv.Itoa(i)}) {
			t.Fatalf("Stops(%d) = false, want true", i)
		}
	}
}

func TestFeedThatStandsStillIsAnError(t *testing.T) {
	if _, err := OpenRevoked(t.Context(), stuck{&wire{}}); err == nil {
		t.Error("OpenRevoked(a feed that repeats itself) = no error, want one")
	}
}

// stuck answers every question with the same full page.
type stuck struct{ Feed }

func (stuck) Revocations(_ context.Context, _ uint64, n int) (page []driver.Revocation, _ error) {
	for i := range n {
		page = append(page, driver.Revocation{Seq: uint64(i + 1), Kind: driver.RevokeJTI, ID: strconv.Itoa(i)})
	}
	return page, nil
}

func TestRevocationNeverShrinks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, now := opened(t, &wire{}), time.Now()
		c := storage.Caller{UserID: "u1", GrantedAt: now}
		r.Revoke(t.Context(), driver.Revocation{Kind: driver.RevokeUser, ID: "u1", Before: now.Add(1), Until: now.Add(week)})
		r.Revoke(t.Context(), driver.Revocation{Kind: driver.RevokeUser, ID: "u1", Before: now.Add(-1),
			Until: now.Add(time.Hour)})
		time.Sleep(2 * time.Hour)
		r.Revoke(t.Context(), driver.Revocation{Kind: driver.RevokeUser, ID: "u2"})
		if !r.Stops(c) {
			t.Error("Stops() = false after an earlier and shorter revocation, want true")
		}
		r.Revoke(t.Context(), driver.Revocation{Kind: driver.RevokeUser, ID: "u1", Before: now.Add(2), Until: now})
		if c.GrantedAt = now.Add(1); !r.Stops(c) {
			t.Error("Stops() = false after a later revocation that joins a longer one, want true")
		}
	})
}

func TestSetForgetsWhatHasExpired(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &wire{}
		r := opened(t, w)
		add := func(name string, n int) {
			for i := range n {
				r.Revoke(t.Context(), driver.Revocation{Kind: driver.RevokeJTI, ID: name + strconv.Itoa(i),
					Until: time.Now().Add(week)})
			}
		}
		r.Revoke(t.Context(), driver.Revocation{Kind: driver.RevokeJTI, ID: "for ever"})
		add("old", 1000)
		time.Sleep(week - 1)
		add("live", 1)
		if len(r.facts) != 1002 {
			t.Errorf("before their end %d facts are known, want all 1002", len(r.facts))
		}
		time.Sleep(time.Nanosecond)
		add("new", 500)
		if len(r.facts) > 502 || len(r.ring) != len(r.facts) {
			t.Errorf("%d facts are known in a ring of %d, want the 502 live ones", len(r.facts), len(r.ring))
		}
		for _, id := range []string{"for ever", "live0", "new0", "new499"} {
			if !r.Stops(storage.Caller{TokenID: id}) {
				t.Errorf("Stops(%s) = false, want true", id)
			}
		}
		if n := len(opened(t, w).facts); n != 502 {
			t.Errorf("OpenRevoked() knows %d facts, want the 502 live ones", n)
		}
	})
}

func opened(t testing.TB, feed Feed) *Revoked {
	t.Helper()
	r, err := OpenRevoked(t.Context(), feed)
	if err != nil {
		t.Fatalf("OpenRevoked() = %v, want no error", err)
	}
	return r
}

// A token that was revoked must not open anything when a clock that was ahead is set right.
func TestFactIsKeptUntilItsEndHasSurelyCome(t *testing.T) {
	feed := &wire{behind: 400 * 24 * time.Hour}
	r, err := OpenRevoked(t.Context(), feed)
	if err != nil {
		t.Fatal(err)
	}
	caller := storage.Caller{TokenID: "j"}
	if err := r.Revoke(t.Context(), driver.Revocation{Kind: driver.RevokeJTI, ID: "j",
		Until: time.Now().Add(-8 * 24 * time.Hour)}); err != nil {
		t.Fatal(err)
	}
	for i := range 50 { // each addition forgets some that are over
		if err := r.Revoke(t.Context(), driver.Revocation{Kind: driver.RevokeJTI, ID: fmt.Sprint(i),
			Until: time.Now()}); err != nil {
			t.Fatal(err)
		}
	}
	if !r.Stops(caller) {
		t.Error("a revoked token is forgotten before its time")
	}
}
