package federation

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/keystile/keystile/internal/scope"
	"github.com/keystile/keystile/oauth/signin/connector"
	"github.com/keystile/keystile/oauth/signin/internal/session"
	"github.com/keystile/keystile/oauth/signin/internal/web"
	"github.com/keystile/keystile/storage"
)

// paramLegacy marks a sign-in for the old endpoints, which know no prompt.
const paramLegacy = "legacy"

// skew bounds by how much the clock of a provider may be behind ours.
const skew = time.Minute

// askedOf returns what an application asks of a sign-in, in the authorize request that a query carries.
func askedOf(query string) (a connector.Asked) {
	params := web.Params(query)
	if params.Has(paramLegacy) {
		return a
	}
	prompts := strings.Fields(params.Get("prompt"))
	a.Login, a.SelectAccount = slices.Contains(prompts, "login"), slices.Contains(prompts, "select_account")
	if n, err := strconv.ParseUint(params.Get("max_age"), 10, 31); err == nil {
		a.Login, a.MaxAge = a.Login || n == 0, time.Duration(n)*time.Second
	}
	a.Email = slices.Contains(strings.Fields(params.Get("scope")), scope.Email)
	a.LoginHint, a.UILocales = params.Get("login_hint"), params.Get("ui_locales")
	return a
}

// confirms reports whether a sign-in confirms who is signed in, for what takes a fresh one: a page of their account or
// of the console, or a scope that is never granted silently.
func (u provider) confirms(r *http.Request, query string) (mine storage.Session, is bool, err error) {
	if !web.IsPage(query) && !scope.HasElevated(web.Params(query).Get("scope")) {
		return mine, false, nil
	}
	mine, err = u.Sessions.Visitor(r)
	if errors.Is(err, storage.ErrNotFound) {
		return mine, false, nil
	}
	return mine, err == nil, err
}

func (u provider) asked(r *http.Request, query string) (connector.Asked, error) {
	a := askedOf(query)
	if a.Fresh() || a.SelectAccount {
		return a, nil
	}
	_, is, err := u.confirms(r, query)
	a.Login = is || web.IsAgain(r)
	return a, err
}

// proves reports whether what a provider says of the time meets what was asked of a visit that began at some time.
func proves(a connector.Asked, at, began time.Time) bool {
	switch {
	case !a.Fresh():
		return true
	case at.IsZero(), a.Login && at.Before(began.Add(-skew)):
		return false
	}
	return a.MaxAge == 0 || time.Since(at) <= a.MaxAge
}

func (u provider) proofOf(ctx context.Context, user storage.User, p connector.Profile) (session.Proof, error) {
	by := session.Proof{Method: u.Name(), At: p.AuthTime, Unsaid: p.AuthTime.IsZero(), Settled: true}
	if !by.Unsaid {
		return by, nil
	}
	own, err := u.ownWay(ctx, user)
	by.Alone = !own
	return by, err
}

// ownWay reports whether a user can prove who they are without a provider: by a password, a passkey or a code by email.
func (u provider) ownWay(ctx context.Context, user storage.User) (bool, error) {
	if user.Email != "" && user.EmailVerified && u.Pages.LinkOf(storage.LoginEmail).Path != "" {
		return true, nil
	}
	if u.HasPassword != nil {
		if has, err := u.HasPassword(ctx, user.Sub); has || err != nil {
			return has, err
		}
	}
	logins, err := u.Logins.Logins(ctx, user.Sub)
	password := func(l storage.Login) bool { return l.Method == storage.LoginSelf && l.PasswordHash != "" }
	if err != nil || slices.ContainsFunc(logins, password) {
		return err == nil, err
	}
	f, err := u.Store.Factors(ctx, user.Sub)
	return err == nil && u.Pages.Passkeys && len(f.Passkeys) > 0, err
}

// notConfirmed is shown to a user who confirms who they are at a provider that does not prove it.
const notConfirmed = "This provider does not say that you have just signed in there, " +
	"so it cannot confirm that it is you. Choose another way."

// letIn signs in the user whom the provider has named.
func (u provider) letIn(
	w http.ResponseWriter, r *http.Request, user storage.User, p connector.Profile, query string,
) error {
	by, err := u.proofOf(r.Context(), user, p)
	if err != nil {
		return err
	}
	switch mine, is, err := u.confirms(r, query); {
	case err != nil:
		return err
	case is && mine.UserID == user.Sub && !u.Confirms(by):
		return u.showRefused(w, r, query, notConfirmed)
	}
	u.Pages.RememberWay(w, r, u.Name())
	u.Log.InfoContext(r.Context(), "signed in", "sub", user.Sub, "ip", u.Peer(r), "by", u.Name())
	return u.SignIn(w, r, user, by, query)
}
