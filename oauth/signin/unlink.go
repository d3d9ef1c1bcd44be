package signin

import (
	"errors"
	"net/http"
	"time"

	"github.com/keystile/keystile/storage"
)

// unlink takes one method away from those the sender signs in by, with every browser that
// came in by it. It wants a sign-in of the last ten minutes: who finds an open browser must
// not shut its owner out. Of two at once, neither takes what the other leaves.
func (a *Account) unlink(r request) (string, error) {
	method := r.in["method"]
	if time.Since(r.mine.AuthTime) > recent {
		return confirmPath, nil
	}
	if method == storage.LoginSelf {
		return "", ownName
	}
	for {
		all, err := a.logins.Logins(r.Context(), r.mine.UserID)
		if err != nil {
			return "", err
		}
		some, keep := split(all, method)
		switch {
		case len(some) == 0:
			return accountPath, nil
		case keep == nil:
			return "", lastWay
		}
		switch err := a.logins.UnlinkLogins(r.Context(), *keep, some...); {
		case err == nil:
			a.told(r, "unlinked "+method)
			return accountPath, a.in.endSessions(r.Context(), r.mine.UserID, func(v storage.Session) bool { return v.LoginType == loginType(method) && v.ID != r.mine.ID })
		case !errors.Is(err, storage.ErrConflict):
			return "", err
		}
	}
}

// split tells the logins of a method from the rest, and picks one of those that lets its
// owner in.
func split(all []storage.Login, method string) (some []storage.Login, keep *storage.Login) {
	for i, l := range all {
		switch {
		case l.Method == method:
			some = append(some, l)
		case keep == nil && opens(l):
			keep = &all[i]
		}
	}
	return some, keep
}

// opens: a username without a password lets nobody in.
func opens(l storage.Login) bool { return l.Method != storage.LoginSelf || l.PasswordHash != "" }

// confirm is GET /oauth/account/confirm: the sign-in form once more, for who is signed in.
func (a *Account) confirm(w http.ResponseWriter, r *http.Request) error {
	_, user, err := a.in.visit(r)
	switch {
	case errors.Is(err, storage.ErrNotFound):
		return a.in.stage(r, accountPath, storage.App{}).show(w, http.StatusOK, formPage, view{Title: "Sign in"})
	case err != nil:
		return err
	}
	return a.in.askAgain(w, r, user)
}
