package people

import (
	"context"
	"crypto/rand"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/keystile/keystile/internal/record/notify"
	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/internal/document"
)

// Newcomer is a user who is to be made.
type Newcomer struct {
	User  User
	By    []Login
	Along func(sub string) ([]driver.Doc, error) // other documents, for package storage; nil: none
}

// CreateUser writes a user and the logins they are found by, in one step. It draws the sub
// and the number. It returns ErrExists, and writes nothing, if a login or one of their
// Skeletons is taken.
func (s *Store) CreateUser(ctx context.Context, u User, by ...Login) (User, error) {
	return Create(ctx, s, u, by, document.Tally{})
}

// Create is CreateUser that also writes other documents in the same step, and what they add to the counts.
func Create(ctx context.Context, s *Store, u User, by []Login, change document.Tally,
	along ...driver.Doc) (User, error) {
	made, err := CreateAll(ctx, s, []Newcomer{{User: u, By: by}}, change, along...)
	return made[0], err
}

// CreateAll is Create for several users, all or none. They are written in one step, so they and what goes along with
// them are at most driver.MaxPut documents. Users with numbers of ReserveNumbers keep these.
func CreateAll(ctx context.Context, s *Store, all []Newcomer, change document.Tally,
	along ...driver.Doc) (made []User, err error) {
	now := time.Now().UTC()
	all = slices.Clone(all)
	made = make([]User, len(all))
	for i := range all {
		n := &all[i]
		n.User.Sub = "u" + strings.ToLower(rand.Text())
		n.User.CreatedAt, n.User.UpdatedAt = now, now
		n.By = slices.Clone(n.By)
		for j := range n.By {
			n.By[j].UserID, n.By[j].CreatedAt = n.User.Sub, now
		}
		made[i] = n.User
		err = errors.Join(err, n.User.Check())
	}
	if err != nil {
		return made, err
	}
	if made[0].ID != 0 {
		change.Users += int64(len(all))
		return made, s.writeAll(ctx, all, made, change, along)
	}
	for {
		last, err := nextNumber(ctx, s, len(all))
		if err != nil {
			return made, err
		}
		for i := range all {
			all[i].User.ID = last.Last - int64(len(all)-1-i)
			made[i].ID = all[i].User.ID
		}
		number, err := document.Counters.Doc(s.docs, last)
		if err == nil {
			err = s.writeAll(ctx, all, made, change, append(slices.Clip(along), number))
		}
		if !document.LostRace(err, document.Counters.Name) { // another sign-up took the numbers
			return made, err
		}
	}
}

// nextNumber returns the counter of users' numbers with some more given.
func nextNumber(ctx context.Context, s *Store, n int) (document.Counter, error) {
	last, err := document.Find(ctx, s.docs, document.Counters, document.NumbersOfUsers)
	last.Name = document.NumbersOfUsers
	last.Last += int64(n)
	return last, err
}

// ReserveNumbers returns the first of n numbers that no other user gets. Users with a number of these are made by
// several CreateAll at once, which do not wait for each other. That a number is never used is no harm: they count as
// users only when they are made.
func ReserveNumbers(ctx context.Context, s *Store, n int) (first int64, err error) {
	for {
		last, err := nextNumber(ctx, s, n)
		if err != nil {
			return 0, err
		}
		number, err := document.Counters.Doc(s.docs, last)
		if err != nil {
			return 0, err
		}
		_, err = document.WriteCounted(ctx, s.docs, document.Tally{Users: -int64(n)}, number)
		if !document.LostRace(err, document.Counters.Name) {
			return last.Last - int64(n) + 1, err
		}
	}
}

// writeAll writes users, and what is told of them, in one step.
func (s *Store) writeAll(ctx context.Context, all []Newcomer, made []User, change document.Tally,
	along []driver.Doc) error {
	docs := slices.Clip(along)
	for _, n := range all {
		some, err := n.docs(s)
		if err != nil {
			return err
		}
		docs = append(docs, some...)
	}
	return tellingOf(ctx, s, toldCreated(all), func(queued []driver.Doc) error {
		version, err := document.WriteCounted(ctx, s.docs, change, slices.Concat(docs, queued)...)
		if err == nil {
			for i := range made {
				made[i].Version = version
			}
		}
		return err
	})
}

// docs returns the documents of a user whose sub and number are drawn.
func (n Newcomer) docs(s *Store) ([]driver.Doc, error) {
	docs, err := document.Docs(s.docs, logins, n.By...)
	if err != nil {
		return nil, err
	}
	for _, l := range n.By {
		seen, err := document.Docs(s.docs, skeletons, skeletonsOf(n.User.Sub, l.Skeletons[:])...)
		if err != nil {
			return nil, err
		}
		docs = append(docs, seen...)
	}
	if n.Along != nil {
		more, err := n.Along(n.User.Sub)
		if err != nil {
			return nil, err
		}
		docs = append(docs, more...)
	}
	user, err := Users.Doc(s.docs, n.User)
	return append(docs, user), err
}

func toldCreated(all []Newcomer) func() ([]notify.UserEvent, error) {
	return func() (events []notify.UserEvent, err error) {
		for _, n := range all {
			events = append(events, notify.UserEvent{Type: notify.UserCreated, Sub: n.User.Sub, Methods: methodsOf(n.By)})
		}
		return events, nil
	}
}

// Taken holds what of the names of new users is somebody's.
type Taken struct {
	logins map[string]Login
	looks  map[string]bool
}

// Login returns the login of somebody by the method and the subject of a new one.
func (t Taken) Login(l Login) (of Login, taken bool) {
	of, taken = t.logins[logins.ID(l)]
	return of, taken
}

// LooksTaken reports whether the name of a new login looks like somebody's.
func (t Taken) LooksTaken(l Login) bool {
	return slices.ContainsFunc(l.Skeletons[:], func(text string) bool { return t.looks[text] })
}

// Taken returns what is somebody's of logins that are to be made, with a few reads however many they are.
func (s *Store) Taken(ctx context.Context, by []Login) (Taken, error) {
	t := Taken{map[string]Login{}, map[string]bool{}}
	for some := range slices.Chunk(by, driver.Page/(1+len(Login{}.Skeletons))) {
		var ids, looks []string
		for _, l := range some {
			ids = append(ids, logins.ID(l))
			for _, look := range skeletonsOf("", l.Skeletons[:]) {
				looks = append(looks, skeletons.ID(look))
			}
		}
		var found []Login
		var seen []skeleton
		err := document.Gather(ctx, s.docs, document.Named(s.docs, logins, ids, &found),
			document.Named(s.docs, skeletons, looks, &seen))
		if err != nil {
			return t, err
		}
		for _, l := range found {
			t.logins[logins.ID(l)] = l
		}
		for _, look := range seen {
			t.looks[look.Text] = true
		}
	}
	return t, nil
}
