package appacts

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/access"
	"github.com/keystile/keystile/storage/claim"
)

// Learns says how what an application learns of its users changes. A nil field stays as it is.
type Learns struct {
	GroupFilter         []string // patterns of the groups that it learns of, instead; none of them: all
	GroupsInAccessToken *bool
	Claims              []claim.Rule // instead of those that it has
}

func (l Learns) apply(app *storage.App) {
	set(&app.GroupsInAccessToken, l.GroupsInAccessToken)
	if l.GroupFilter != nil {
		app.GroupFilter = slices.Clone(l.GroupFilter)
	}
	if l.Claims != nil {
		app.Claims = slices.Clone(l.Claims)
	}
}

// administers reports whether a change says which users an application admits, or what it learns of them.
func (c Change) administers() bool {
	l := c.Learns
	return c.Allow != nil || c.Deny != nil || l.GroupFilter != nil || l.GroupsInAccessToken != nil || l.Claims != nil
}

// admit writes into an application who may use it. It refuses a user or a group that is not there: nobody would be
// meant, and a group that is made later under the name is another one.
//
// Allow means the groups that are there when it is said. Said again, it means those of now; until then, Since keeps
// out a group that was made anew. Deny means whatever has the name.
func (a *Acts) admit(ctx context.Context, c Change, app *storage.App) error {
	if c.Allow == nil && c.Deny == nil {
		return nil
	}
	var is access.Admission
	if app.Admission != nil {
		is = *app.Admission.Clone()
	}
	if c.Allow != nil {
		allow, newest, err := a.subjects(ctx, "allow", c.Allow)
		if err != nil {
			return err
		}
		if !slices.Equal(allow, is.Allow) || newest.After(is.Since) {
			is.Since = a.c.Store.Later(time.Now())
			if newest.After(is.Since) { // another node, whose clock is ahead, has made the group
				is.Since = newest
			}
		}
		is.Allow = allow
	}
	if c.Deny != nil {
		deny, _, err := a.subjects(ctx, "deny", c.Deny)
		if err != nil {
			return err
		}
		is.Deny = deny
	}
	if app.Admission = &is; len(is.Allow)+len(is.Deny) == 0 {
		app.Admission = nil
	}
	return nil
}

// subjects checks a list of subjects, and returns it without repetitions, with the time when the newest group on it was
// made. That everyone may is the same as no list, and is said alone.
func (a *Acts) subjects(ctx context.Context, field string, list []string) (all []string, newest time.Time, err error) {
	wrong := func(format string, args ...any) ([]string, time.Time, error) {
		return nil, newest, fmt.Errorf("%w: %s: "+format, append([]any{storage.ErrInvalid, field}, args...)...)
	}
	for _, text := range list {
		if !slices.Contains(all, text) {
			all = append(all, text)
		}
	}
	switch everyone := slices.Contains(all, access.SubjectEveryone); {
	case field == "allow" && len(all) == 0:
		return wrong("nobody is no choice: say everyone, name subjects such as group:ops, or disable the application")
	case everyone && len(all) > 1:
		return wrong("everyone includes the others: give it alone, or leave it out")
	case field == "allow" && everyone:
		return nil, newest, nil
	}
	if err := access.CheckUsers(all); err != nil {
		return wrong("%w", err)
	}
	for _, text := range all {
		s, err := access.ParseSubject(text)
		switch s.Kind {
		case access.SubjectUser:
			_, err = a.c.Store.User(ctx, s.Name)
		case access.SubjectGroup:
			g, failed := a.c.Store.Group(ctx, s.Name)
			if err = failed; err == nil && g.Since().After(newest) {
				newest = g.Since()
			}
		}
		switch {
		case errors.Is(err, storage.ErrNotFound) && s.Kind == access.SubjectGroup:
			return wrong("there is no group %q: make it first, or leave it out", s.Name)
		case errors.Is(err, storage.ErrNotFound):
			return wrong("there is no user %q: give a username or a sub, or leave it out", s.Name)
		case err != nil:
			return nil, newest, err
		}
	}
	return all, newest, nil
}

// keep has an application that nobody registered stay: what an administrator has said of it would end with it, and its
// document would bring it back without.
func keep(app *storage.App, now time.Time) {
	if app.Client == nil {
		return
	}
	app.Client = app.Client.Clone()
	if app.Client.ExpiresAt = (time.Time{}); app.Client.KeptAt.IsZero() {
		app.Client.KeptAt = now.UTC()
	}
}
