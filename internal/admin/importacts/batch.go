package importacts

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"

	"github.com/keystile/keystile/internal/admin"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/groups"
	"github.com/keystile/keystile/storage/people"
)

// Claims are the names that earlier rows have, by digest, with the marks of these rows.
type Claims map[uint64]uint64

// Take claims the names of a row, or says who has one of them: the same row, or another one.
func (c Claims) Take(names []uint64, mark uint64) (same, taken bool) {
	if was, there := c[names[0]]; there && was == mark { // the username comes first
		return true, true
	}
	for _, name := range names {
		if _, there := c[name]; there {
			return false, true
		}
	}
	for _, name := range names {
		c[name] = mark
	}
	return false, false
}

// TwiceInFile says why a row is refused whose name an earlier one has.
const TwiceInFile = "an earlier row has the same username, verified address or external id, or a username that looks " +
	"alike"

// batch is some rows on their way.
type batch struct {
	*Acts
	by     admin.Actor
	dry    bool
	out    []Outcome
	claims Claims // of the rows before, in this batch

	todo []user
	at   []int // the row of each
}

// decide says what becomes of each row, as far as it can be known before anything is written.
func (b *batch) decide(ctx context.Context, rows []Row) error {
	all := make([]user, len(rows))
	var names []storage.Login
	for i, r := range rows {
		n, err := b.prepare(ctx, r)
		switch {
		case errors.Is(err, storage.ErrInvalid):
			b.refuse(i, strings.ReplaceAll(err.Error(), storage.ErrInvalid.Error()+": ", ""))
		case err != nil:
			return err
		}
		all[i] = n
		names = append(names, n.By...)
	}
	taken, err := b.c.Store.Taken(ctx, names)
	if err != nil {
		return err
	}
	for i, n := range all {
		if b.out[i].Is != "" {
			continue
		}
		if err := b.place(ctx, i, n, taken); err != nil {
			return err
		}
	}
	return nil
}

func (b *batch) refuse(i int, reason string) { b.out[i] = Outcome{Is: Refused, Reason: reason} }

// place decides on a row whose fields are good.
func (b *batch) place(ctx context.Context, i int, n user, taken people.Taken) error {
	for _, l := range n.By {
		of, is := taken.Login(l)
		if !is {
			continue
		}
		if l.Method == storage.LoginSelf {
			u, err := b.c.Store.User(ctx, of.UserID)
			if err != nil && !errors.Is(err, storage.ErrNotFound) {
				return err
			}
			if u.Imported == n.User.Imported {
				b.out[i] = Outcome{Is: Passed}
				return nil
			}
		}
		b.refuse(i, takenText(n, l))
		return nil
	}
	if taken.LooksTaken(n.By[0]) {
		b.refuse(i, takenText(n, n.By[0]))
		return nil
	}
	names, mark := n.claims()
	switch same, is := b.claims.Take(names, mark); {
	case same:
		b.out[i] = Outcome{Is: Passed}
	case is:
		b.refuse(i, TwiceInFile)
	case b.dry:
		b.out[i] = Outcome{Is: Made, Names: names, Mark: mark}
	default:
		b.todo, b.at = append(b.todo, n), append(b.at, i)
	}
	return nil
}

func takenText(n user, l storage.Login) string {
	switch l.Method {
	case storage.LoginSelf:
		return fmt.Sprintf("username %q is taken, or looks like one that is", n.User.Username)
	case storage.LoginEmail:
		return fmt.Sprintf("email %q is verified and belongs to another user", l.Subject)
	}
	return fmt.Sprintf("external id %s:%s belongs to another user", l.Method, l.Subject)
}

// claims returns digests of all that no other user may have; the first one is of the username.
func (n user) claims() (names []uint64, mark uint64) {
	digest := func(text string) uint64 {
		sum := sha256.Sum256([]byte(text))
		return binary.BigEndian.Uint64(sum[:])
	}
	for _, l := range n.By {
		names = append(names, digest(l.Method+"="+l.Subject))
	}
	for _, look := range n.By[0].Skeletons {
		if look != "" {
			names = append(names, digest("look "+look))
		}
	}
	return names, digest(n.User.Imported)
}

// join finds the groups of the users who are to be made, and makes those that are missing.
func (b *batch) join(ctx context.Context) error {
	found := map[string]groups.Group{}
	for i := range b.todo {
		n := &b.todo[i]
		for _, name := range n.names {
			g, there := found[name]
			if !there {
				var err error
				if g, err = b.group(ctx, name); err != nil {
					return err
				}
				found[name] = g
			}
			n.in = append(n.in, g)
		}
	}
	return nil
}

func (b *batch) group(ctx context.Context, name string) (groups.Group, error) {
	g, err := b.c.Store.Group(ctx, name)
	if !errors.Is(err, storage.ErrNotFound) {
		return g, err
	}
	g, err = b.c.Store.SaveGroup(ctx, groups.Group{Name: name})
	if errors.Is(err, storage.ErrExists) { // somebody has made it meanwhile
		return b.c.Store.Group(ctx, name)
	}
	if err == nil {
		err = b.c.Recorder.Note(ctx, b.by, admin.Act{What: "group create", On: name})
	}
	return g, err
}

// write makes the users. Where somebody has taken a name since decide looked, those of that step are made one by one.
func (b *batch) write(ctx context.Context) error {
	left, err := b.create(ctx, b.todo, b.at)
	for _, i := range left {
		if err != nil {
			break
		}
		var again []int
		if again, err = b.create(ctx, b.todo[i:i+1], b.at[i:i+1]); err == nil && len(again) > 0 {
			b.refuse(b.at[i], "the username, the verified address or an external id has just been taken")
		}
	}
	return err
}

// create makes some of the users and returns those who were not made because a name in their step is taken.
func (b *batch) create(ctx context.Context, todo []user, at []int) (left []int, err error) {
	var all []people.Newcomer
	var groupsOf [][]groups.Group
	for _, n := range todo {
		all, groupsOf = append(all, n.Newcomer), append(groupsOf, n.in)
	}
	made, err := b.c.Store.CreateUsers(ctx, all, groupsOf)
	var done []storage.User
	var in [][]string
	for i, u := range made {
		if u.Version == 0 {
			left = append(left, i)
			continue
		}
		b.out[at[i]] = Outcome{Is: Made}
		done, in = append(done, u), append(in, todo[i].names)
	}
	if errors.Is(err, storage.ErrExists) {
		err = nil
	}
	return left, errors.Join(err, b.note(ctx, b.by, done, in))
}
