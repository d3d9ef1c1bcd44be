package useracts

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"strings"
	"time"

	"github.com/keystile/keystile/internal/admin"
	"github.com/keystile/keystile/internal/apikeys"
	"github.com/keystile/keystile/internal/users"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/apikey"
	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/event"
)

// SignOut ends the sessions of a user (a sub), the trust of their browsers, and everything they granted before now. It
// returns how many sessions there were.
func (a *Acts) SignOut(ctx context.Context, by admin.Actor, sub string) (ended int, err error) {
	if err := may(by); err != nil {
		return 0, err
	}
	if ended, err = a.signOut(ctx, sub); err != nil {
		return ended, err
	}
	a.tell(ctx, by, event.NoticeAccount, "signed out everywhere", sub)
	return ended, a.note(ctx, by, "user sign out", sub, "sessions and grants -> ended")
}

func (a *Acts) signOut(ctx context.Context, sub string) (ended int, err error) {
	return users.SignOut(ctx, a.c.Store, a.c.Revoke, sub)
}

// ending is one record of a user that an act ends.
type ending struct {
	sub    string
	change string
	do     func(ctx context.Context) error
	then   func(ctx context.Context) error // once it is on the trail; nil: nothing
}

// end ends records in their order. Each is on the trail before the next one ends, so that a failure in the middle
// leaves nothing unrecorded, and each user is told once.
func (a *Acts) end(ctx context.Context, by admin.Actor, what, notice string, all []ending) error {
	told := map[string]bool{}
	for _, e := range all {
		if err := e.do(ctx); err != nil {
			return err
		}
		if !told[e.sub] {
			told[e.sub] = true
			a.tell(ctx, by, event.NoticeAccount, notice, e.sub)
		}
		if err := a.note(ctx, by, what, e.sub, e.change); err != nil {
			return err
		}
		if e.then == nil {
			continue
		}
		if err := e.then(ctx); err != nil {
			return err
		}
	}
	return nil
}

// SessionName returns the name of a session for the trail and for whoever may see it. Its id authenticates the forms
// of its own browser, so nothing that is shown has it.
func SessionName(id string) string {
	sum := sha256.Sum256([]byte("console session\x00" + id))
	return hex.EncodeToString(sum[:16])
}

// EndSessions ends sessions, and those that were confirmed in them.
func (a *Acts) EndSessions(ctx context.Context, by admin.Actor, some ...storage.Session) error {
	if err := may(by); err != nil {
		return err
	}
	var all []ending
	for _, v := range some {
		all = append(all, ending{sub: v.UserID, change: "session " + SessionName(v.ID) + " -> ended",
			do: func(ctx context.Context) error {
				return users.End(ctx, a.c.Store, v)
			}})
	}
	return a.end(ctx, by, "user session end", "signed out", all)
}

// CreateKey makes an API key of a user, and returns its text, which is not kept.
func (a *Acts) CreateKey(ctx context.Context, by admin.Actor, u storage.User, name, scope string,
	life time.Duration) (text string, k apikey.Key, err error) {
	if err := may(by); err != nil {
		return "", k, err
	}
	if u.Disabled {
		return "", k, ErrDisabled
	}
	if text, k, err = apikeys.Make(ctx, a.c.Store, u.Sub, name, scope, life); err != nil {
		return "", k, err
	}
	a.tell(ctx, by, event.NoticeAccount, "API key made", u.Sub)
	return text, k, a.note(ctx, by, "user key create", u.Sub, "API key "+k.ID+" \""+k.Scope+"\" -> made")
}

// RevokeKeys ends API keys at once.
func (a *Acts) RevokeKeys(ctx context.Context, by admin.Actor, some ...apikey.Key) error {
	if err := may(by); err != nil {
		return err
	}
	var all []ending
	for _, k := range some {
		all = append(all, ending{sub: k.UserID, change: "API key " + k.ID + " -> revoked",
			do: func(ctx context.Context) error {
				return apikeys.End(ctx, a.c.Store, a.c.Revoke, k.ID)
			}})
	}
	return a.end(ctx, by, "user key revoke", "API key revoked", all)
}

// Grant names what a user has allowed an application.
type Grant struct{ Sub, App string }

// WithdrawGrants ends what users have allowed applications, and returns storage.ErrNotFound, with nothing ended, if one
// of the grants is not there.
func (a *Acts) WithdrawGrants(ctx context.Context, by admin.Actor, some ...Grant) error {
	if err := may(by); err != nil {
		return err
	}
	var all []ending
	for _, g := range some {
		e, err := a.withdrawal(ctx, g)
		if err != nil {
			return err
		}
		all = append(all, e)
	}
	return a.end(ctx, by, "user grant withdraw", "access of an application removed", all)
}

// withdrawal ends the consent first and the tokens after, as the account page does: what is being granted meanwhile
// does not escape, and the application stays listed until all of it is stored.
func (a *Acts) withdrawal(ctx context.Context, g Grant) (e ending, err error) {
	met, err := a.c.Store.OpenID(ctx, g.App, g.Sub)
	if err != nil && !errors.Is(err, storage.ErrNotFound) {
		return e, err
	}
	connected := err == nil && met.EndedAt.IsZero()
	was, err := a.c.Store.Consent(ctx, g.App, g.Sub)
	if err != nil && !(errors.Is(err, storage.ErrNotFound) && connected) {
		return e, err
	}
	scope := strings.Join(strings.Fields(was.Scope), " ")
	e = ending{sub: g.Sub, change: "grant of " + g.App + " \"" + scope + "\" -> none"}
	var now time.Time
	e.do = func(ctx context.Context) error {
		_, err := storage.RetryOnConflict(ctx, func() (storage.Consent, error) {
			c, err := a.c.Store.Consent(ctx, g.App, g.Sub)
			if err == nil {
				err = a.c.Store.EndConsent(ctx, c)
			}
			return c, err
		})
		if err != nil && !errors.Is(err, storage.ErrNotFound) {
			return err
		}
		now = time.Now().UTC()
		return a.c.Revoke(ctx, driver.Revocation{Kind: driver.RevokeConsent, ID: driver.ConsentID(g.App, g.Sub)})
	}
	if connected {
		e.then = func(ctx context.Context) error { return a.c.Store.EndOpenID(ctx, g.App, g.Sub, now) }
	}
	return e, nil
}
