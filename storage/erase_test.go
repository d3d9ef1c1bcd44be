package storage_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/keystile/keystile/internal/handle"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/apikey"
	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/memory"
	"github.com/keystile/keystile/storage/transfer"
)

func noLooks(string) []string { return nil }

// eraseNow disables a user and erases them.
func eraseNow(t *testing.T, s *storage.Store, sub string) error {
	t.Helper()
	u, err := s.User(t.Context(), sub)
	if err == nil && !u.Erasing {
		u.Disabled, u.Erasing = true, true
		_, err = s.SaveUser(t.Context(), u)
	}
	if err == nil {
		err = s.EraseUser(t.Context(), sub, noLooks)
	}
	return err
}

// before calls act once before a Put that writes a kind of document.
type before struct {
	driver.Backend
	kind string
	act  func()
}

func (b *before) Put(ctx context.Context, docs ...driver.Doc) (int64, error) {
	if act := b.act; act != nil && slices.ContainsFunc(docs, func(d driver.Doc) bool { return d.Kind == b.kind }) {
		b.act = nil
		act()
	}
	return b.Backend.Put(ctx, docs...)
}

// racing returns two stores on one backend: act happens in the second just before the first writes a kind.
func racing(t *testing.T, kind string, act func(other *storage.Store)) (store, other *storage.Store, b *memory.Store) {
	t.Helper()
	b, key := memory.New(), storage.NewMasterKey()
	t.Cleanup(func() { b.Close() })
	trap := &before{Backend: b, kind: kind}
	var err error
	if other, err = storage.Open(t.Context(), b, key); err == nil {
		store, err = storage.Open(t.Context(), trap, key)
	}
	if err != nil {
		t.Fatal(err)
	}
	trap.act = func() { act(other) }
	return store, other, b
}

// kindsOf lists the kinds of documents that have a text.
func kindsOf(t *testing.T, b transfer.Adapter, text string) (kinds []string) {
	t.Helper()
	for after := []byte(nil); ; {
		page, err := b.Rows(t.Context(), transfer.Documents, after, 500)
		if err != nil {
			t.Fatal(err)
		}
		for _, row := range page {
			if d, err := row.Doc(); err != nil || contains(d, text) {
				kinds = append(kinds, d.Kind)
			}
		}
		if len(page) == 0 {
			return slices.Compact(kinds)
		}
		after = page[len(page)-1].Key
	}
}

func contains(d driver.Doc, text string) bool {
	return strings.Contains(fmt.Sprint(d.ID, " ", d.Index, " ", string(d.Data)), text)
}

// A record of a user who was erased meanwhile does not stay, if a request writes it that began before.
func TestEraseCoversWhatIsWrittenMeanwhile(t *testing.T) {
	now := time.Now()
	for kind, c := range map[string]struct {
		write func(s *storage.Store, sub string) error
		want  error
	}{
		"session": {func(s *storage.Store, sub string) error {
			_, err := s.SaveSession(t.Context(), storage.Session{ID: "s", UserID: sub, AuthTime: now,
				ExpiresAt: now.Add(time.Hour), EndsAt: now.Add(time.Hour)})
			return err
		}, storage.ErrNotFound},
		"consent": {func(s *storage.Store, sub string) error {
			_, err := s.SaveConsent(t.Context(), storage.Consent{AppID: "ks1", UserID: sub, Scope: "openid"})
			return err
		}, storage.ErrNotFound},
		"openid": {func(s *storage.Store, sub string) error {
			_, err := s.EnsureOpenID(t.Context(), "ks1", sub)
			return err
		}, storage.ErrNotFound},
		"login": {func(s *storage.Store, sub string) error {
			return s.LinkLogins(t.Context(), sub, storage.Login{Method: storage.LoginEmail, Subject: "a@example.com"},
				storage.Login{Method: storage.LoginWX, Subject: "a"})
		}, storage.ErrNotFound},
		"login alone": {func(s *storage.Store, sub string) error {
			_, err := s.SaveLogin(t.Context(), storage.Login{Method: storage.LoginWX, Subject: "a", UserID: sub})
			return err
		}, storage.ErrNotFound},
		"apikey": {func(s *storage.Store, sub string) error {
			_, err := s.CreateAPIKey(t.Context(), apikey.Key{ID: handle.Hash("key"), UserID: sub, Name: "a", Scope: "tools"},
				time.Hour)
			return err
		}, storage.ErrNotFound},
		"app": {func(s *storage.Store, sub string) error {
			_, err := s.CreateApp(t.Context(), storage.App{Name: "Shop", Owner: sub, Domains: []string{"shop.example.com"}}, 5,
				storage.Quota{})
			return err
		}, storage.ErrInvalid},
		"app given": {func(s *storage.Store, sub string) error {
			a, err := s.App(t.Context(), "given")
			if err == nil {
				_, err = s.GiveApp(t.Context(), a, sub)
			}
			return err
		}, storage.ErrInvalid},
		"capability": {func(s *storage.Store, sub string) error {
			c := storage.Capability{Member: "pets", Kind: storage.CapabilityREST, UpstreamURL: "https://up.example.com",
				Owner: sub}
			return saveIf(t, s, c, func([]storage.Capability) error { return nil })
		}, storage.ErrInvalid},
	} {
		word, _, _ := strings.Cut(kind, " ")
		var sub string
		var erased error
		store, other, b := racing(t, word, func(other *storage.Store) { erased = eraseNow(t, other, sub) })
		sub = makeUser(t, other, "ada", "").Sub
		if _, err := other.SaveApp(t.Context(), storage.App{ID: "given", Name: "Shop",
			Domains: []string{"shop.example.com"}}); err != nil {
			t.Fatal(err)
		}
		if err := c.write(store, sub); !errors.Is(err, c.want) || erased != nil {
			t.Errorf("%s: it is %v, and the erasure %v; want %v", kind, err, erased, c.want)
		}
		for _, left := range kindsOf(t, b, sub) {
			if !slices.Contains([]string{"erased", "appfence", "capabilityfence", "apikeyfence"}, left) {
				t.Errorf("%s: a %s names the user", kind, left)
			}
		}
	}
}

// An application that is given to a user just before the last step keeps the user, so that it has an owner.
func TestUserWhoIsGivenSomethingMeanwhileIsNotErased(t *testing.T) {
	for name, give := range map[string]func(s *storage.Store, sub string) error{
		"an application": func(s *storage.Store, sub string) error {
			_, err := s.CreateApp(t.Context(), storage.App{Name: "Shop", Owner: sub, Domains: []string{"shop.example.com"}}, 0,
				storage.Quota{})
			return err
		},
		"somebody's application": func(s *storage.Store, sub string) error {
			a, err := s.SaveApp(t.Context(), storage.App{Name: "Shop", Domains: []string{"shop.example.com"}})
			if err == nil {
				_, err = s.GiveApp(t.Context(), a, sub)
			}
			return err
		},
		"a capability": func(s *storage.Store, sub string) error {
			c := storage.Capability{Member: "pets", Kind: storage.CapabilityREST, UpstreamURL: "https://up.example.com",
				Owner: sub}
			return saveIf(t, s, c, func([]storage.Capability) error { return nil })
		},
	} {
		var sub string
		var given error
		store, other, _ := racing(t, "login", func(other *storage.Store) { given = give(other, sub) })
		u, err := other.CreateUser(t.Context(), storage.User{Username: "ada"},
			storage.Login{Method: storage.LoginSelf, Subject: "ada"})
		if err != nil {
			t.Fatal(err)
		}
		sub = u.Sub
		err = eraseNow(t, store, sub)
		if !errors.Is(err, storage.ErrStillOwns) || given != nil {
			t.Errorf("%s: it is %v, given %v", name, err, given)
		}
		if u, err := other.User(t.Context(), sub); err != nil || !u.Disabled {
			t.Errorf("%s: the user is %+v, %v", name, u, err)
		}
	}
}

// A user's name is reserved by those looks alone that are theirs.
func TestLooksOfAnotherUserStay(t *testing.T) {
	s := openMemory(t)
	makeUser(t, s, "paypal", "")
	must(t, s.ReserveSkeletons(t.Context(), "v1", big))
	late := makeUser(t, s, "PayPal", "") // its look is taken: as users were before looks were kept
	u, err := s.User(t.Context(), late.Sub)
	must(t, err)
	u.Disabled, u.Erasing = true, true
	_, err = s.SaveUser(t.Context(), u)
	must(t, err)
	must(t, s.EraseUser(t.Context(), late.Sub, big))
	_, err = s.CreateUser(t.Context(), storage.User{Username: "pAyPal"},
		storage.Login{Method: storage.LoginSelf, Subject: "x", Skeletons: [2]string{"PAYPAL"}})
	if !errors.Is(err, storage.ErrExists) {
		t.Errorf("a name that looks like one that is taken: %v", err)
	}
}

// A user who is erased while the looks of all names are stored has none that stays.
func TestLookThatIsStoredMeanwhileDoesNotStay(t *testing.T) {
	var sub string
	store, other, b := racing(t, "look", func(other *storage.Store) { must(t, eraseNow(t, other, sub)) })
	sub = makeUser(t, other, "ada", "").Sub
	makeUser(t, other, "bob", "")
	must(t, store.ReserveSkeletons(t.Context(), "v1", big))
	if kinds := kindsOf(t, b, "ADA"); len(kinds) > 0 {
		t.Errorf("%q has the look of the name", kinds)
	}
	if kinds := kindsOf(t, b, "BOB"); len(kinds) != 1 {
		t.Errorf("another user's look is in %q", kinds)
	}
}

// The record of an erasure ends with a sweep of the day after.
func TestErasureLeavesNothingBehindForLong(t *testing.T) {
	s, b := open(t)
	u := makeUser(t, s, "ada", "")
	must(t, eraseNow(t, s, u.Sub))
	if kinds := kindsOf(t, b, u.Sub); len(kinds) == 0 {
		t.Error("nothing is kept of it: what is written meanwhile would stay")
	}
	if _, err := s.Sweep(t.Context(), time.Now().Add(25*time.Hour)); err != nil {
		t.Fatal(err)
	}
	if kinds := kindsOf(t, b, u.Sub); len(kinds) > 0 {
		t.Errorf("%q still name the user", kinds)
	}
}

func TestCountsAreThoseOfUsersWhoAreThere(t *testing.T) {
	s := openMemory(t)
	for i := range 3 {
		u := makeUser(t, s, fmt.Sprint("u", i), "")
		if i < 2 {
			must(t, eraseNow(t, s, u.Sub))
		}
	}
	if c := agree(t, s); c.Users != 1 {
		t.Errorf("%d users, want 1", c.Users)
	}
}
