package account

import (
	"errors"
	"slices"

	"github.com/keystile/keystile/oauth/signin/internal/methods"
	"github.com/keystile/keystile/oauth/signin/internal/session"
	"github.com/keystile/keystile/oauth/signin/internal/trail"
	"github.com/keystile/keystile/oauth/signin/internal/web"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/event"
)

// unlink takes one method away from those the sender signs in by, with every browser that
// came in by it. It wants a sign-in of the last ten minutes: who finds an open browser must
// not shut its owner out. Of two at once, neither takes what the other leaves.
func (a *Account) unlink(r request) (string, error) {
	method := r.in["method"]
	if !session.Recent(r.mine) {
		return web.ConfirmPath, nil
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
			a.Notices.NotifyIn(r.Context(), r.mine.UserID, a.Notices.FromRequest(r.Request, event.NoticeSignInMethod, "Removed: "+a.Labels.Of(method)), nil)
			out := a.Sessions.EndSessions(r.Context(), r.mine.UserID, func(v storage.Session) bool { return v.LoginType == methods.LoginType(method) && v.ID != r.mine.ID })
			left := slices.DeleteFunc(slices.Clone(all), func(l storage.Login) bool { return l.Method == method })
			return web.AccountPath, errors.Join(out, a.Trail.Changed(r.Request, r.mine.UserID, "unlinked "+method, trail.MethodsOf(all), trail.MethodsOf(left)))
		case !errors.Is(err, storage.ErrConflict):
			return "", err
		}
	}
}

// splitLogins tells the logins of a method from the rest, and picks one of those that lets its
// owner in.
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

// opens: a username without a password lets nobody in.
func canSignIn(l storage.Login) bool { return l.Method != storage.LoginSelf || l.PasswordHash != "" }
