package storage_test

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/groups"
	"github.com/keystile/keystile/storage/memory"
	"github.com/keystile/keystile/storage/people"
)

func newcomer(name string) people.Newcomer {
	return people.Newcomer{User: storage.User{Username: name}, By: []storage.Login{
		{Method: storage.LoginSelf, Subject: name, Skeletons: [2]string{name, "l " + name}},
		{Method: storage.LoginEmail, Subject: name + "@example.com"}}}
}

// Users are made in steps beside each other and beside sign-ups: each has a number of its own, and they are counted.
func TestManyUsersAreMadeAtOnceAndCounted(t *testing.T) {
	s, err := storage.Open(t.Context(), memory.New(), storage.NewMasterKey())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.SetUserWebhook(t.Context(), "https://hook.example/", false); err != nil {
		t.Fatal(err)
	}
	var in []groups.Group
	for i := range groups.MaxGroupsOfUser {
		g, err := s.SaveGroup(t.Context(), groups.Group{Name: fmt.Sprintf("g%03d", i)})
		if err != nil {
			t.Fatal(err)
		}
		in = append(in, g)
	}
	var work sync.WaitGroup
	var mu sync.Mutex
	numbers := map[int64]string{}
	note := func(u storage.User) {
		mu.Lock()
		defer mu.Unlock()
		if other, twice := numbers[u.ID]; twice || u.ID == 0 || u.Version == 0 {
			t.Errorf("%s has the number %d, as %s", u.Username, u.ID, other)
		}
		numbers[u.ID] = u.Username
	}
	for i := range 3 {
		work.Go(func() {
			var all []people.Newcomer
			var of [][]groups.Group
			for j := range 40 {
				all, of = append(all, newcomer(fmt.Sprintf("m%d-%02d", i, j))), append(of, in[:j*5])
			}
			made, err := s.CreateUsers(t.Context(), all, of)
			if err != nil {
				t.Error(err)
			}
			for k, u := range made {
				note(u)
				names, err := s.GroupsOf(t.Context(), u.Sub)
				if err != nil || len(names) != k*5 {
					t.Errorf("%s is in %d groups, %v", u.Username, len(names), err)
				}
			}
		})
		work.Go(func() {
			for j := range 20 {
				n := newcomer(fmt.Sprintf("s%d-%02d", i, j))
				u, err := s.CreateUser(t.Context(), n.User, n.By...)
				if err != nil {
					t.Error(err)
				}
				note(u)
			}
		})
	}
	work.Wait()
	if c, err := s.Counts(t.Context()); err != nil || c.Users != 180 || len(numbers) != 180 {
		t.Errorf("%d users are counted, %d have numbers, %v", c.Users, len(numbers), err)
	}
}

func TestNothingOfAStepIsMadeWhereANameIsTaken(t *testing.T) {
	s, err := storage.Open(t.Context(), memory.New(), storage.NewMasterKey())
	if err != nil {
		t.Fatal(err)
	}
	create := func(names ...string) ([]storage.User, error) {
		var all []people.Newcomer
		for _, name := range names {
			all = append(all, newcomer(name))
		}
		return s.CreateUsers(t.Context(), all, make([][]groups.Group, len(all)))
	}
	if _, err := create("ada"); err != nil {
		t.Fatal(err)
	}
	made, err := create("bob", "ada", "eve")
	there := func(u storage.User) bool { return u.Version != 0 }
	if !errors.Is(err, storage.ErrExists) || slices.ContainsFunc(made, there) {
		t.Errorf("%v, %v", made, err)
	}
	taken, err := s.Taken(t.Context(), slices.Concat(newcomer("ada").By, newcomer("bob").By))
	if err != nil {
		t.Fatal(err)
	}
	if _, is := taken.Login(newcomer("ada").By[1]); !is || !taken.LooksTaken(newcomer("ada").By[0]) {
		t.Error("ada is not taken")
	}
	if _, is := taken.Login(newcomer("bob").By[0]); is || taken.LooksTaken(newcomer("bob").By[0]) {
		t.Error("bob is taken, who was not made")
	}
	if c, err := s.Counts(t.Context()); err != nil || c.Users != 1 {
		t.Errorf("%d users, %v", c.Users, err)
	}
	if made, err := create(); len(made) != 0 || err != nil {
		t.Errorf("nobody: %v, %v", made, err)
	}
}
