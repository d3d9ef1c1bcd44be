package storage_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"

	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/memory"
)

func saveUser(t *testing.T, s *storage.Store, sub, nickname string) {
	t.Helper()
	u, err := s.User(t.Context(), sub)
	must(t, err)
	u.Nickname = nickname
	_, err = s.SaveUser(t.Context(), u)
	must(t, err)
}

func createUser(t *testing.T, s *storage.Store, name string) storage.User {
	t.Helper()
	u, err := s.CreateUser(t.Context(), storage.User{Username: name})
	must(t, err)
	return u
}

func TestCacheOfAnotherProcessLearnsOfChangedUsersButNotNewOnes(t *testing.T) {
	here, _, news, backend := processes(t)
	ada := createUser(t, here, "ada")
	wantNews(t, "a new user", news())
	if docs, _, err := backend.List(t.Context(), driver.KindEpoch, driver.Is("all"), 100); err != nil || len(docs) > 0 {
		t.Errorf("a new user is counted among the changes, in %d epochs, on which those who sign up would meet: %v",
			len(docs), err)
	}
	saveUser(t, here, ada.Sub, "Ada")
	wantNews(t, "a changed user", news(), storage.Change{Kind: storage.ChangedUsers, IDs: []string{ada.Sub}})
	wantNews(t, "nothing since", news())
	for i := range 200 {
		saveUser(t, here, createUser(t, here, fmt.Sprint("user", i)).Sub, "x")
	}
	told := map[string]bool{}
	for _, c := range news() {
		if c.Kind != storage.ChangedUsers {
			t.Errorf("told of %v, want users", c)
		}
		for _, sub := range c.IDs {
			told[sub] = true
		}
	}
	if docs, _, err := backend.List(t.Context(), driver.KindEpoch, driver.Is("all"), 100); err != nil || len(docs) < 8 ||
		len(told) != 200 {
		t.Errorf("of 200 users %d are told of, counted in %d epochs, %v; want few writers of each", len(told), len(docs), err)
	}
}

func TestProcessIsToldOfItsOwnChangesOfUsersBeforeTheirWritersAreAnswered(t *testing.T) {
	alone, _ := open(t)
	here, _, _, _ := processes(t)
	for name, s := range map[string]*storage.Store{"alone": alone, "one of several": here} {
		ada := createUser(t, s, "ada")
		var told []storage.Change
		stop := s.OnChange(func(c storage.Change) { told = append(told, c) })
		wantNews(t, name+": nothing yet", told)
		saveUser(t, s, ada.Sub, "Ada")
		wantNews(t, name+": a saved user", told, storage.Change{Kind: storage.ChangedUsers, IDs: []string{ada.Sub}})
		told = nil
		saveApp(t, s, storage.App{})
		wantNews(t, name+": an application", told)
		if _, err := s.SaveUser(t.Context(), ada); !errors.Is(err, storage.ErrConflict) {
			t.Errorf("%s: an old version is saved: %v", name, err)
		}
		stop()
	}
}

// slow is a backend that writes after the caller has gone, as a file does whose writer has taken the job.
type slow struct {
	driver.Backend
	queue chan func()
}

func (s slow) Put(ctx context.Context, docs ...driver.Doc) (version int64, err error) {
	answered := make(chan struct{})
	select {
	case s.queue <- func() { version, err = s.Backend.Put(context.Background(), docs...); close(answered) }:
	default:
		return s.Backend.Put(ctx, docs...)
	}
	select {
	case <-answered:
		return version, err
	case <-ctx.Done():
		return 0, ctx.Err()
	}
}

// Nobody would tell of it later where only one process writes.
func TestUserChangeGivenUpIsNotToldBeforeItIsWritten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		backend := slow{Backend: memory.New(), queue: make(chan func(), 1)}
		defer backend.Close()
		full := func() {}
		backend.queue <- full // writes go through at once
		s, err := storage.Open(t.Context(), backend, keyOfTest)
		must(t, err)
		ada := createUser(t, s, "ada")
		<-backend.queue
		var seen string
		s.OnChange(func(storage.Change) {
			d, err := backend.Get(t.Context(), storage.ChangedUsers, ada.Sub)
			must(t, err)
			seen = string(d.Data)
		})
		before, err := backend.Get(t.Context(), storage.ChangedUsers, ada.Sub)
		must(t, err)
		ctx, giveUp := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		ada.Nickname = "Ada"
		go func() { _, err := s.SaveUser(ctx, ada); ended <- err }()
		synctest.Wait()
		giveUp()
		synctest.Wait()
		(<-backend.queue)()
		if err := <-ended; err != nil || seen == "" || seen == string(before.Data) {
			t.Errorf("SaveUser = %v, and when it was told of there was %s", err, seen)
		}
		if _, err := s.SaveUser(ctx, ada); !errors.Is(err, context.Canceled) || len(backend.queue) != 0 {
			t.Errorf("SaveUser for nobody = %v with %d writes, want none", err, len(backend.queue))
		}
	})
}

// A step of the walk that writes a page of users holds an epoch for each of them in the worst case.
func TestWalkOverUsersOfASharedStoreFitsIntoAPut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := memory.New()
		oldWorld(t, b, 300)
		s := nodesOver(t, shared{b}, 1)[0]
		walked(t, s)
		if found, _, err := s.FindUsers(t.Context(), "user299", "", 10); err != nil || len(found) != 1 {
			t.Errorf("user299 is found %d times, %v", len(found), err)
		}
	})
}
