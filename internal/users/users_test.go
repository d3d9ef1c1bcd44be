package users

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/memory"
)

func open(t *testing.T) *storage.Store {
	t.Helper()
	store, err := storage.Open(t.Context(), memory.New(), storage.NewMasterKey())
	if err != nil {
		t.Fatal(err)
	}
	return store
}

// create makes a user who signs in by a username and by mailboxes.
func create(t *testing.T, store *storage.Store, u storage.User, mailboxes ...string) storage.User {
	t.Helper()
	u, err := store.CreateUser(t.Context(), u, storage.Login{Method: storage.LoginSelf, Subject: u.Username})
	for _, address := range mailboxes {
		if err == nil {
			err = store.LinkLogins(t.Context(), u.Sub, storage.Login{Method: storage.LoginEmail, Subject: address})
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	return u
}

func TestFirstAdministratorIsTheOneWithTheLowestNumber(t *testing.T) {
	store := open(t)
	if sub, err := FirstAdmin(t.Context(), store); sub != "" || err != nil {
		t.Errorf("of nobody it is %q, %v", sub, err)
	}
	create(t, store, storage.User{Username: "ada"})
	first := create(t, store, storage.User{Username: "root", Role: storage.RoleAdmin})
	for i := range 5 {
		create(t, store, storage.User{Username: fmt.Sprint("admin", i), Role: storage.RoleAdmin})
	}
	if sub, err := FirstAdmin(t.Context(), store); sub != first.Sub || err != nil {
		t.Errorf("it is %q, %v, want %q", sub, err, first.Sub)
	}
	if _, err := FirstAdmin(t.Context(), broken{}); !errors.Is(err, errBroken) {
		t.Errorf("of a store that fails it is %v", err)
	}
}

var errBroken = errors.New("no disk")

type broken struct{}

func (broken) Users(context.Context, string, int) ([]storage.User, string, error) {
	return nil, "", errBroken
}

func TestWaysInByMailFollowTheAddress(t *testing.T) {
	for _, c := range []struct {
		mailbox string
		has     []string // ways in by mail before
		linked  bool
		want    []string
	}{
		{"new@example.com", []string{"old@example.com"}, true, nil}, // the new one is linked by link, here only noted
		{"old@example.com", []string{"old@example.com", "older@example.com"}, true, []string{"old@example.com"}},
		{"", []string{"old@example.com"}, false, nil},
		{"", nil, false, nil},
	} {
		store := open(t)
		u := create(t, store, storage.User{Username: "ada"}, c.has...)
		linked := ""
		link := func(_ context.Context, sub, mailbox string) error { linked = sub + mailbox; return nil }
		got, err := SettleEmail(t.Context(), store, link, u, c.mailbox)
		if err != nil || got.Sub != u.Sub || (linked == u.Sub+c.mailbox) != c.linked {
			t.Errorf("%q: %+v, %v, linked %q", c.mailbox, got, err, linked)
		}
		logins, err := store.Logins(t.Context(), u.Sub)
		var left []string
		others := 0
		for _, l := range logins {
			if l.Method == storage.LoginEmail {
				left = append(left, l.Subject)
			} else {
				others++
			}
		}
		if err != nil || !slices.Equal(left, c.want) || others != 1 {
			t.Errorf("%q: left are %q and %d others, %v; want %q", c.mailbox, left, others, err, c.want)
		}
	}
}

func TestMailboxOfSomebodyElseIsRefused(t *testing.T) {
	store := open(t)
	u := create(t, store, storage.User{Username: "ada"})
	taken := func(context.Context, string, string) error { return storage.ErrExists }
	if _, err := SettleEmail(t.Context(), store, taken, u, "bob@example.com"); !errors.Is(err, storage.ErrExists) {
		t.Errorf("it is %v", err)
	}
}
