package storage_test

import (
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/keystile/keystile/internal/handle"
	"github.com/keystile/keystile/storage"
)

func invitation(code string) storage.Invitation {
	now := time.Now().UTC()
	return storage.Invitation{ID: handle.HashInvitation(code), Role: storage.RoleDeveloper, CreatedAt: now,
		ExpiresAt: now.Add(time.Hour)}
}

func TestInvitationMakesOneUser(t *testing.T) {
	store, _ := open(t)
	code := handle.NewInvitation()
	made, err := store.SaveInvitation(t.Context(), invitation(code))
	if err != nil {
		t.Fatal(err)
	}
	var won atomic.Int32
	var all sync.WaitGroup
	for i := range 10 {
		all.Go(func() {
			name := strings.Repeat("a", i+1)
			u, err := store.CreateInvited(t.Context(), storage.User{Username: name}, made,
				storage.Login{Method: storage.LoginSelf, Subject: name})
			switch {
			case err == nil && u.Role == storage.RoleDeveloper:
				won.Add(1)
			case !errors.Is(err, storage.ErrConflict):
				t.Error(u, err)
			}
		})
	}
	all.Wait()
	if n := won.Load(); n != 1 {
		t.Errorf("%d users came of one invitation, want 1", n)
	}
	if users, _, err := store.Users(t.Context(), "", 10); len(users) != 1 || err != nil {
		t.Errorf("%d users are written, %v", len(users), err)
	}
	if _, err := store.Invitation(t.Context(), made.ID); !errors.Is(err, storage.ErrNotFound) {
		t.Errorf("the used invitation: %v, want ErrNotFound", err)
	}
}

func TestTakenNameDoesNotUseUpTheInvitation(t *testing.T) {
	store, _ := open(t)
	ada := storage.Login{Method: storage.LoginSelf, Subject: "ada"}
	if _, err := store.CreateUser(t.Context(), storage.User{Username: "ada"}, ada); err != nil {
		t.Fatal(err)
	}
	made, err := store.SaveInvitation(t.Context(), invitation(handle.NewInvitation()))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := store.CreateInvited(t.Context(), storage.User{Username: "ada"}, made, ada); !errors.Is(err,
		storage.ErrExists) {
		t.Errorf("a taken name: %v, want ErrExists", err)
	}
	if _, err := store.Invitation(t.Context(), made.ID); err != nil {
		t.Errorf("the invitation is gone: %v", err)
	}
}

func TestInvitationIsReadAsUsersTypeIt(t *testing.T) {
	code := handle.NewInvitation()
	if len(code) != 29 || handle.NewInvitation() == code {
		t.Errorf("a code is %q", code)
	}
	for _, typed := range []string{strings.ToLower(code), " " + strings.ReplaceAll(code, "-", " ") + " ",
		strings.ReplaceAll(code, "-", "")} {
		if handle.HashInvitation(typed) != handle.HashInvitation(code) {
			t.Errorf("%q is another code than %q", typed, code)
		}
	}
}

func TestInvitationEnds(t *testing.T) {
	store, _ := open(t)
	for promise, change := range map[string]func(*storage.Invitation){
		"that never ends": func(i *storage.Invitation) { i.ExpiresAt = time.Time{} },
		"of 91 days":      func(i *storage.Invitation) { i.ExpiresAt = i.CreatedAt.Add(91 * 24 * time.Hour) },
		"to another role": func(i *storage.Invitation) { i.Role = "root" },
	} {
		i := invitation("x")
		change(&i)
		if _, err := store.SaveInvitation(t.Context(), i); !errors.Is(err, storage.ErrInvalid) {
			t.Errorf("an invitation %s: %v, want ErrInvalid", promise, err)
		}
	}
}
