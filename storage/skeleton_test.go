package storage_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/keystile/keystile/storage"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Error(err)
	}
}

// big is a simple skeleton function.
func big(name string) []string { return []string{strings.ToUpper(name)} }

func TestUsernamesThatLookTheSameAreRefused(t *testing.T) {
	s, _ := open(t)
	ctx := context.Background()
	create := func(name string) error {
		_, err := s.CreateUser(ctx, storage.User{Username: name}, storage.Login{Method: storage.LoginSelf, Subject: name,
			Skeletons: [2]string{big(name)[0]}})
		return err
	}
	var made atomic.Int64
	var all sync.WaitGroup
	for i := range 20 {
		all.Go(func() {
			switch err := create([]string{"alice", "Alice", "ALICE", "aLICE"}[i%4]); {
			case err == nil:
				made.Add(1)
			case !errors.Is(err, storage.ErrExists):
				t.Error(err)
			}
		})
	}
	all.Wait()
	if made.Load() != 1 {
		t.Errorf("%d users were made at once, want one", made.Load())
	}
	if err := create("bob"); err != nil {
		t.Errorf("another name = %v", err)
	}
}

func TestLooksOfOldUsersAreWrittenDownOnceForEachVersion(t *testing.T) {
	s, _ := open(t)
	ctx := context.Background()
	for i := range 130 { // more than one Put holds
		_, err := s.CreateUser(ctx, storage.User{Username: fmt.Sprint("u", i)},
			storage.Login{Method: storage.LoginSelf, Subject: fmt.Sprint("u", i)})
		must(t, err)
	}
	for _, twin := range []string{"alice", "ALICE"} {
		_, err := s.CreateUser(ctx, storage.User{Username: twin}, storage.Login{Method: storage.LoginSelf, Subject: twin})
		must(t, err)
	}
	requests := atomic.Int64{}
	counting := func(name string) []string { requests.Add(1); return big(name) }
	var all sync.WaitGroup
	for range 4 { // nodes that begin at once
		all.Go(func() { must(t, s.ReserveSkeletons(ctx, "v1", counting)) })
	}
	all.Wait()
	for _, name := range []string{"U0", "u129", "Alice"} {
		_, err := s.CreateUser(ctx, storage.User{Username: name}, storage.Login{Method: storage.LoginSelf,
			Subject: name + "'", Skeletons: [2]string{big(name)[0]}})
		if !errors.Is(err, storage.ErrExists) {
			t.Errorf("a user who looks like %s = %v, want ErrExists", name, err)
		}
	}
	before := requests.Load()
	must(t, s.ReserveSkeletons(ctx, "v1", counting))
	if requests.Load() != before {
		t.Error("it is done again")
	}
	must(t, s.ReserveSkeletons(ctx, "v2", counting))
	if requests.Load() == before {
		t.Error("a new version is not written down")
	}
}
