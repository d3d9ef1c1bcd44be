package storage_test

import (
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/keystile/keystile/storage"
)

func ticket(id string) storage.Ticket {
	now := time.Now().UTC()
	return storage.Ticket{ID: id, Kind: "email", Subject: "ada@example.com", CreatedAt: now,
		ExpiresAt: now.Add(10 * time.Minute)}
}

func TestTicketIsUsedByOneRequest(t *testing.T) {
	store, _ := open(t)
	made, err := store.SaveTicket(t.Context(), ticket("a"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := store.SaveTicket(t.Context(), ticket("a")); !errors.Is(err, storage.ErrExists) {
		t.Errorf("a second ticket of one id: %v, want ErrExists", err)
	}
	var won atomic.Int32
	var all sync.WaitGroup
	for range 30 {
		all.Go(func() {
			if err := store.EndTicket(t.Context(), made); err == nil {
				won.Add(1)
			} else if !errors.Is(err, storage.ErrConflict) {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if won.Load() != 1 {
		t.Errorf("%d requests used one ticket", won.Load())
	}
}

func TestTicketsAreFoundByWhatTheyAreAbout(t *testing.T) {
	store, _ := open(t)
	long := strings.Repeat("x", 2000) + "@example.com"
	for i, subject := range []string{"ada@example.com", "ada@example.com", long, "ada@example.co"} {
		v := ticket(string(rune('a' + i)))
		v.Subject = subject
		if _, err := store.SaveTicket(t.Context(), v); err != nil {
			t.Fatal(err)
		}
	}
	other := ticket("z")
	other.Kind = "reset"
	if _, err := store.SaveTicket(t.Context(), other); err != nil {
		t.Fatal(err)
	}
	for subject, want := range map[string]int{"ada@example.com": 2, long: 1, "ada": 0} {
		if found, err := store.TicketsAbout(t.Context(), "email", subject); err != nil || len(found) != want {
			t.Errorf("%d tickets about %.20q, %v; want %d", len(found), subject, err, want)
		}
	}
}

func TestTicketEndsSoonAndIsSwept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, _ := open(t)
		for name, change := range map[string]func(*storage.Ticket){
			"no kind":       func(v *storage.Ticket) { v.Kind = "" },
			"no end":        func(v *storage.Ticket) { v.ExpiresAt = time.Time{} },
			"a day":         func(v *storage.Ticket) { v.ExpiresAt = v.CreatedAt.Add(24 * time.Hour) },
			"too much text": func(v *storage.Ticket) { v.Query = strings.Repeat("x", 40<<10) },
		} {
			v := ticket("bad")
			change(&v)
			if _, err := store.SaveTicket(t.Context(), v); !errors.Is(err, storage.ErrInvalid) {
				t.Errorf("%s: %v, want ErrInvalid", name, err)
			}
		}
		v, err := store.SaveTicket(t.Context(), ticket("a"))
		if err != nil || !v.Live(time.Now()) {
			t.Fatal(v, err)
		}
		time.Sleep(10 * time.Minute)
		if v.Live(time.Now()) {
			t.Error("a ticket is live at its end")
		}
		if n, err := store.Sweep(t.Context(), time.Now()); n != 1 || err != nil {
			t.Errorf("swept %d, %v", n, err)
		}
		if _, err := store.Ticket(t.Context(), "a"); !errors.Is(err, storage.ErrNotFound) {
			t.Error(err)
		}
	})
}

func TestConsentGrowsByWhatIsAllowed(t *testing.T) {
	store, _ := open(t)
	c, err := store.SaveConsent(t.Context(), storage.Consent{AppID: "ks1", UserID: "u1"}.With("profile openid"))
	if err != nil || c.Scope != "openid profile" || c.CreatedAt.IsZero() {
		t.Fatal(c, err)
	}
	c, err = store.SaveConsent(t.Context(), c.With("email profile"))
	if err != nil || c.Scope != "email openid profile" {
		t.Fatal(c, err)
	}
	if all, err := store.Consents(t.Context(), "u1"); len(all) != 1 || err != nil {
		t.Fatal(all, err)
	}
	if err := store.EndConsent(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	if _, err := store.Consent(t.Context(), "ks1", "u1"); !errors.Is(err, storage.ErrNotFound) {
		t.Error(err)
	}
}

func TestOpenIDIsRememberedAfterAccessIsTakenAway(t *testing.T) {
	store, _ := open(t)
	if err := store.EndOpenID(t.Context(), "ks1", "u1", time.Now()); err != nil {
		t.Errorf("parting before meeting: %v", err)
	}
	met, err := store.EnsureOpenID(t.Context(), "ks1", "u1")
	if err != nil {
		t.Fatal(err)
	}
	when := time.Now()
	if err := errors.Join(store.EndOpenID(t.Context(), "ks1", "u1", when),
		store.EndOpenID(t.Context(), "ks1", "u1", when.Add(time.Hour))); err != nil {
		t.Fatal(err)
	}
	if all, err := store.OpenIDs(t.Context(), "u1"); err != nil || len(all) != 1 || !all[0].EndedAt.Equal(when) {
		t.Fatalf("OpenIDs = %+v, %v; want one that ended at %v", all, err, when)
	}
	if o, err := store.EnsureOpenID(t.Context(), "ks1", "u1"); err != nil || o.OpenID != met.OpenID ||
		!o.EndedAt.IsZero() {
		t.Errorf("meeting again = %+v, %v; want %q and no end", o, err, met.OpenID)
	}
}

func TestUnlinksThatWouldLeaveNothingFail(t *testing.T) {
	store, _ := open(t)
	ada, err := store.CreateUser(t.Context(), storage.User{Username: "ada"}, storage.Login{Method: "wx", Subject: "1"},
		storage.Login{Method: "qq", Subject: "2"})
	if err != nil {
		t.Fatal(err)
	}
	both, err := store.Logins(t.Context(), ada.Sub)
	if err != nil || len(both) != 2 {
		t.Fatal(both, err)
	}
	if err := store.UnlinkLogins(t.Context(), both[0], both[1]); err != nil {
		t.Fatal(err)
	}
	if err := store.UnlinkLogins(t.Context(), both[1], both[0]); !errors.Is(err, storage.ErrConflict) {
		t.Errorf("the second unlink = %v, want ErrConflict", err)
	}
	if left, err := store.Logins(t.Context(), ada.Sub); err != nil || len(left) != 1 || left[0].Method != both[0].Method {
		t.Errorf("left: %v, %v", left, err)
	}
}

func TestLoginsAreLinkedAllOrNone(t *testing.T) {
	store, _ := open(t)
	way := func(method, subject string) storage.Login {
		return storage.Login{Method: method, Subject: subject}
	}
	ada, err := store.CreateUser(t.Context(), storage.User{Username: "ada"}, way("self", "ada"), way("wx", "u:1"),
		way("wx", "o:1"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := store.CreateUser(t.Context(), storage.User{Username: "bob"}, way("self", "bob"),
		way("wx", "o:1")); !errors.Is(err, storage.ErrExists) {
		t.Fatalf("a user with a login of somebody else: %v", err)
	}
	if _, err := store.Login(t.Context(), "self", "bob"); !errors.Is(err, storage.ErrNotFound) {
		t.Errorf("half a user was written: %v", err)
	}
	if err := store.LinkLogins(t.Context(), ada.Sub, way("qq", "o:2"), way("wx", "o:1")); !errors.Is(err,
		storage.ErrExists) {
		t.Errorf("linking what is taken: %v", err)
	}
	if err := store.LinkLogins(t.Context(), ada.Sub, way("qq", "o:2")); err != nil {
		t.Error(err)
	}
	all, err := store.Logins(t.Context(), ada.Sub)
	if len(all) != 4 || err != nil {
		t.Fatal(all, err)
	}
	if err := store.EndLogins(t.Context(), all[1:]...); err != nil {
		t.Error(err)
	}
	if rest, err := store.Logins(t.Context(), ada.Sub); len(rest) != 1 || err != nil || rest[0].Subject != all[0].Subject {
		t.Error(rest, err)
	}
}
