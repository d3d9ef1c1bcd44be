package ui

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/keystile/keystile/internal/admin"
	"github.com/keystile/keystile/internal/confusable"
	"github.com/keystile/keystile/internal/pattern"
	"github.com/keystile/keystile/internal/reply"
	"github.com/keystile/keystile/storage"
)

const (
	maxTyped   = 500 // bytes of a name or an id
	readAtOnce = 100
	readAtMost = 5  // pages of those that begin with what was typed
	maxAlike   = 10 // that an error lists
)

// Directory holds what a Finder looks for; *storage.Store is one.
type Directory interface {
	User(ctx context.Context, sub string) (storage.User, error)
	Login(ctx context.Context, method, subject string) (storage.Login, error)
	FindUsers(ctx context.Context, prefix, from string, n int) ([]storage.User, string, error)
	App(ctx context.Context, id string) (storage.App, error)
	FindApps(ctx context.Context, prefix, owner, from string, n int) ([]storage.App, string, error)
}

// Finder finds the user or the application that somebody means by what they type into a field: an id, or a name.
// An id comes first, so that nobody can stand in for another by a name.
type Finder struct{ in Directory }

// NewFinder makes a Finder.
func NewFinder(in Directory) *Finder { return &Finder{in} }

// Mistyped is the error of a field that names nothing, or more than one thing. A page whose Get returns it beside its
// data is shown with it.
type Mistyped struct {
	*reply.Failure
	Field string
}

// Unwrap returns the failure that programs are answered with.
func (m *Mistyped) Unwrap() error { return m.Failure }

var (
	// protocol 7
	findsNone = &reply.Failure{Status: 404, Msg: "nothing has this name or id"}
	// protocol 7
	findsMany = &reply.Failure{Status: 400, Msg: "more than one has this name"}

	subForm = pattern.Lazy(`^u[a-z2-7]{26}$`)
	idForm  = pattern.Lazy(`^ks[a-z2-7]{20}$`)
)

// User returns the user whom a field names: by sub, by username or, if it is theirs alone, by nickname, name or
// verified mail address. Actors who may not see others name them by sub or username only.
func (f *Finder) User(ctx context.Context, who admin.Actor, field, text string) (u storage.User, err error) {
	typed := strings.TrimSpace(text)
	none := noneOf("%s: no user is called %q", field, typed)
	if typed == "" || len(typed) > maxTyped {
		return u, none
	}
	if subForm().MatchString(typed) {
		if u, err = f.in.User(ctx, typed); errors.Is(err, storage.ErrNotFound) {
			err = none
		}
		return u, err
	}
	key := confusable.Key(typed)
	is := func(name string) bool { return confusable.Key(name) == key }
	s := search[storage.User]{read: func(from string) ([]storage.User, string, error) {
		return f.in.FindUsers(ctx, typed, from, readAtOnce)
	}, match: func(u storage.User) int {
		switch called := is(u.Nickname) || is(u.Name) || u.EmailVerified && is(u.Email); {
		case u.Sub == typed || is(u.Username):
			return best
		case called && who.Reader() == nil:
			return well
		}
		return 0
	}}
	if err := s.page(); err != nil {
		return u, err
	}
	if len(s.found[best]) != 1 {
		if u, err = f.byLogin(ctx, typed); !errors.Is(err, storage.ErrNotFound) {
			return u, err
		}
	}
	u, err = s.chosen(none, func(u storage.User) string { return u.Username + " (" + u.Sub + ")" })
	if !FindsNone(err) {
		return u, err
	}
	// The users of a host's own table are on no list, and their subs look as the host likes.
	if u, err = f.in.User(ctx, typed); errors.Is(err, storage.ErrNotFound) || errors.Is(err, storage.ErrInvalid) {
		err = none
	}
	return u, err
}

// byLogin returns the user who signs in by a username: those whose nicknames begin with it do not hide them.
func (f *Finder) byLogin(ctx context.Context, typed string) (u storage.User, err error) {
	names := []string{strings.ToLower(typed), confusable.Key(typed)}
	for _, name := range slices.Compact(names) {
		login, err := f.in.Login(ctx, storage.LoginSelf, name)
		if err == nil {
			return f.in.User(ctx, login.UserID)
		}
		if !errors.Is(err, storage.ErrNotFound) && !errors.Is(err, storage.ErrInvalid) {
			return u, err
		}
	}
	return u, storage.ErrNotFound
}

// App returns the application that a field names: by client_id or, if it is that one's alone among those that the
// actor may see, by name.
func (f *Finder) App(ctx context.Context, who admin.Actor, field, text string) (app storage.App, err error) {
	typed := strings.TrimSpace(text)
	none := noneOf("%s: no application is called %q", field, typed)
	if typed == "" || len(typed) > maxTyped {
		return app, none
	}
	app, err = f.in.App(ctx, typed)
	if err == nil && !who.Sees(app.Owner) {
		return storage.App{}, none
	}
	if !errors.Is(err, storage.ErrNotFound) && !errors.Is(err, storage.ErrInvalid) {
		return app, err
	}
	owner := ""
	if who.Reader() != nil {
		owner = who.Sub
	}
	if idForm().MatchString(typed) || who.Sub == "" && who.Reader() != nil {
		return app, none
	}
	key := confusable.Key(typed)
	s := search[storage.App]{read: func(from string) ([]storage.App, string, error) {
		return f.in.FindApps(ctx, typed, owner, from, readAtOnce)
	}, match: func(a storage.App) int {
		if confusable.Key(a.Name) == key {
			return well
		}
		return 0
	}}
	return s.chosen(none, func(a storage.App) string { return a.Name + " (" + a.ID + ")" })
}

// AppID is App for a list of what an application has left: a client_id is taken as it is, because it may be gone.
func (f *Finder) AppID(ctx context.Context, who admin.Actor, field, text string) (string, error) {
	if typed := strings.TrimSpace(text); idForm().MatchString(typed) {
		return typed, nil
	}
	app, err := f.App(ctx, who, field, text)
	return app.ID, err
}

// Sub is User for a list of what a user has left: a sub is taken as it is, because they may be gone.
func (f *Finder) Sub(ctx context.Context, who admin.Actor, field, text string) (string, error) {
	if typed := strings.TrimSpace(text); subForm().MatchString(typed) {
		return typed, nil
	}
	u, err := f.User(ctx, who, field, text)
	return u.Sub, err
}

func noneOf(text, field, typed string) *Mistyped {
	return &Mistyped{findsNone.Saying(fmt.Sprintf(text, field, Shown(typed, 60))), field}
}

// FindsNone reports whether an error is that of a field that names nothing.
func FindsNone(err error) bool {
	m := (*Mistyped)(nil)
	return errors.As(err, &m) && m.Status == findsNone.Status
}

// How well something matches what was typed.
const (
	well = 1
	best = 2
)

// search reads what begins with what was typed.
type search[T any] struct {
	read  func(from string) ([]T, string, error)
	match func(T) int

	found [best + 1][]T
	from  string
	pages int
	whole bool // no more begins with it
}

// page reads one page more.
func (s *search[T]) page() error {
	page, next, err := s.read(s.from)
	for _, one := range page {
		how := s.match(one)
		s.found[how] = append(s.found[how], one)
	}
	s.found[0], s.from, s.pages, s.whole = nil, next, s.pages+1, next == ""
	return err
}

// chosen returns the one that was meant, or an error that lists those that could be.
func (s *search[T]) chosen(none *Mistyped, called func(T) string) (one T, err error) {
	for len(s.found[best]) != 1 && !s.whole && s.pages < readAtMost {
		if err := s.page(); err != nil {
			return one, err
		}
	}
	all := s.found[best]
	if len(all) == 0 {
		all = s.found[well]
	}
	switch {
	case len(s.found[best]) == 1, len(all) == 1 && s.whole:
		return all[0], nil
	case len(all) == 0:
		return one, none
	}
	var names []string
	for _, a := range all[:min(len(all), maxAlike)] {
		names = append(names, Shown(called(a), 120))
	}
	if len(all) > maxAlike || !s.whole {
		names = append(names, "…")
	}
	return one, &Mistyped{findsMany.Saying(none.Field + ": more than one has this name, so type an id: " +
		strings.Join(names, ", ")), none.Field}
}
