package account

import (
	"cmp"
	"errors"
	"slices"

	"github.com/keystile/keystile/oauth/signin/internal/methods"
	"github.com/keystile/keystile/oauth/signin/internal/session"
	"github.com/keystile/keystile/oauth/signin/internal/trail"
	"github.com/keystile/keystile/oauth/signin/internal/web"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/event"
)

// unlink removes one of the sender's sign-in methods, and ends the other sessions that it began.
// It takes a fresh sign-in: whoever finds an open browser must not lock its owner
// out. Of two parallel requests, neither removes the last method that the other keeps.
func (a *Account) unlink(r request) (string, error) {
	method := r.in["method"]
	if fresh, _, err := a.Second.Fresh(r.Context(), r.mine); err != nil || !fresh {
		return "", cmp.Or(err, session.ErrStale)
	}
	if method == storage.LoginSelf {
		return "", web.OwnUsername
	}
	for {
		all, err := a.Logins.Logins(r.Context(), r.mine.UserID)
		if err != nil {
			return "", err
		}
		some, keep := splitLogins(all, method)
		switch {
		case len(some) == 0:
			return web.AccountPath, nil
		case keep == nil:
			return "", web.LastMethod
		}
		switch err := a.Logins.UnlinkLogins(r.Context(), *keep, some...); {
		case err == nil:
			a.Notices.NotifyIn(r.Context(), r.mine.UserID, a.Notices.FromRequest(r.Request, event.NoticeSignInMethod,
				"Removed: "+a.Labels.Of(method)), nil)
			out := a.Sessions.EndSessions(r.Context(), r.mine.UserID,
				func(v storage.Session) bool { return v.ID != r.mine.ID && began(v, method) })
			left := slices.DeleteFunc(slices.Clone(all), func(l storage.Login) bool { return l.Method == method })
			return web.AccountPath, errors.Join(out, a.Trail.Changed(r.Request, r.mine.UserID, "unlinked "+method,
				trail.MethodsOf(all), trail.MethodsOf(left)))
		case !errors.Is(err, storage.ErrConflict):
			return "", err
		}
	}
}

// began reports whether a session may have begun by a method. One that says neither its method nor how its
// user authenticated is from a version before, and begun by any method of its login type.
func began(v storage.Session, method string) bool {
	return v.SignInMethod() == method || v.Method == "" && v.AMR == "" && v.LoginType == methods.LoginType(method)
}

// splitLogins returns the logins of a method, and one of the others that its owner can sign in
// with, nil if there is none.
func splitLogins(all []storage.Login, method string) (some []storage.Login, keep *storage.Login) {
	for i, l := range all {
		switch {
		case l.Method == method:
			some = append(some, l)
		case keep == nil && canSignIn(l):
			keep = &all[i]
		}
	}
	return some, keep
}

// opens reports whether a login can be used: a username needs a password.
func canSignIn(l storage.Login) bool { return l.Method != storage.LoginSelf || l.PasswordHash != "" }
