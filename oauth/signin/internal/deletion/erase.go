package deletion

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/keystile/keystile/internal/confusable"
	"github.com/keystile/keystile/internal/page"
	erasing "github.com/keystile/keystile/internal/users"
	"github.com/keystile/keystile/oauth/signin/internal/web"
	"github.com/keystile/keystile/oauth/signin/users"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/event"
)

// Eraser erases a user (a sub) for good. It calls note, with the records that go, once the user is signed
// out for good and before anything is removed. It fails with *erasing.Owner for a user who owns something
// and with storage.ErrLastAdmin for the last administrator. Another call finishes an erasure that broke
// off.
type Eraser func(ctx context.Context, note func(ctx context.Context, changes []string) error, sub string) error

// Revoke ends tokens.
type Revoke func(context.Context, ...driver.Revocation) error

// Stored returns the Eraser of the users of a store.
func Stored(store erasing.EraseStore, revoke Revoke) Eraser {
	return func(ctx context.Context, note func(context.Context, []string) error, sub string) error {
		written := func(ctx context.Context, e erasing.Erased) error { return note(ctx, e.Changes()) }
		_, err := erasing.Erase(ctx, store, revoke, written, sub)
		return err
	}
}

// Hosted returns the Eraser of users of a host's own: what the store holds goes after the user, so that
// nobody is left who could make more of it.
func Hosted(table users.ErasableUsers, store erasing.EraseStore, revoke Revoke) Eraser {
	return func(ctx context.Context, note func(context.Context, []string) error, sub string) error {
		apps, capabilities, err := store.CountOwned(ctx, sub)
		if err == nil && apps+capabilities > 0 {
			err = &erasing.Owner{Apps: apps, Capabilities: capabilities}
		}
		if err != nil {
			return err
		}
		ended, err := erasing.SignOut(ctx, store, revoke, sub)
		if err != nil {
			return err
		}
		if err := note(ctx, []string{"user -> removed", fmt.Sprintf("sessions %d and all grants -> ended",
			ended)}); err != nil {
			return err
		}
		if err := table.EraseUser(ctx, sub); err != nil {
			return err
		}
		return store.EraseUser(ctx, sub, confusable.Skeletons)
	}
}

// Attempts at an erasure, and the time for them, while its user waits.
const (
	tries     = 3
	eraseTime = 30 * time.Second
)

// erase erases a user, and goes on if they do not wait for it. It is written down and told once, and that it
// begins is written down before: a trail that is away would leave a user who is neither here nor gone. One who
// is gone meanwhile, by another request, is erased.
func (p *Page) erase(r *http.Request, u storage.User) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), eraseTime)
	defer cancel()
	r = r.WithContext(ctx)
	if err := p.begin(r, u.Sub); err != nil {
		return err
	}
	noted := false
	note := func(_ context.Context, changes []string) error {
		if noted {
			return nil
		}
		if err := p.Trail.WriteNow(r, event.Account, event.Event{User: u.Sub, Status: http.StatusOK,
			Detail: "account deleted by its owner: " + strings.Join(changes, "; ")}); err != nil {
			return err
		}
		noted = true
		if u.EmailVerified && u.Email != "" {
			what := p.Notices.FromRequest(r, event.NoticeDeleted, "")
			p.Notices.NotifyIn(ctx, u.Sub, what, []page.Lang{page.Lang(web.LangFor(r, ""))}, u.Email)
		}
		return nil
	}
	var err error
	for range tries {
		err = p.Erase(ctx, note, u.Sub)
		switch {
		case err == nil:
			return nil
		case errors.Is(err, storage.ErrNotFound):
			if _, left := p.Sessions.Users.User(ctx, u.Sub); errors.Is(left, storage.ErrNotFound) {
				return nil
			}
			return err
		case errors.Is(err, storage.ErrStillOwns), errors.Is(err, storage.ErrLastAdmin), ctx.Err() != nil:
			return err
		}
	}
	return err
}

// begin writes down that a user deletes their account, unless they own something.
func (p *Page) begin(r *http.Request, sub string) error {
	if p.CountOwned != nil {
		apps, capabilities, err := p.CountOwned(r.Context(), sub)
		if err == nil && apps+capabilities > 0 {
			err = storage.ErrStillOwns
		}
		if err != nil {
			return err
		}
	}
	return p.Trail.WriteNow(r, event.Account, event.Event{User: sub, Status: http.StatusOK,
		Detail: "the account is to be deleted by its owner"})
}
