package useracts

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode"

	"github.com/keystile/keystile/internal/admin"
	"github.com/keystile/keystile/internal/users"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/event"
)

// Create makes a user who signs in with a password.
func (a *Acts) Create(ctx context.Context, by admin.Actor, u storage.User, password string) (storage.User, error) {
	if err := errors.Join(may(by), checkNickname(u.Nickname)); err != nil {
		return u, err
	}
	u, err := a.c.Create(ctx, u, password)
	if err != nil {
		return u, err
	}
	a.forget(u.Sub)
	return u, a.note(ctx, by, "user create", u.Sub, admin.UserChanges(storage.User{}, u)...)
}

// Change says what Set changes; nil is unchanged.
type Change struct {
	Role          *string // "": none
	Disabled      *bool
	Name          *string
	Nickname      *string
	Email         *string // another one is not verified, and nobody signs in by the old one
	EmailVerified *bool   // the user signs in by a verified address
	Password      *string // of a user who has one: a drawn or typed one in the place of theirs
	// Attributes are those that change, by name: nil removes one.
	Attributes *map[string]*string
}

// Changed says what Set has changed.
type Changed struct {
	Before, After storage.User
	SignedOut     bool
	Sessions      int // that have ended
}

// Set changes a user (a sub). Another role, another password, and being disabled, end the user's sessions and
// everything they granted: what keeps them out is saved first, so that nothing begins that this would miss. So does
// being enabled again, before it: a process that was killed may have disabled them and ended nothing.
//
// The last administrator keeps their role and stays enabled, but for the operator, who can make another one.
func (a *Acts) Set(ctx context.Context, by admin.Actor, sub string, c Change) (done Changed, err error) {
	if done.Before, err = a.before(ctx, by, sub, c); err != nil {
		return done, err
	}
	if c.Disabled != nil && done.Before.Disabled {
		if _, err := a.signOut(ctx, sub); err != nil {
			return done, err
		}
	}
	if done.After = done.Before; c != (Change{Password: c.Password}) {
		if done.Before, done.After, err = a.save(ctx, by, sub, c); err != nil {
			return done, err
		}
	}
	what, failed := "user set", error(nil)
	if c.Email != nil || c.EmailVerified != nil {
		done.After, failed = a.settle(ctx, done.After)
	}
	changes := admin.UserChanges(done.Before, done.After)
	if c.Password != nil && failed == nil {
		if failed = a.setPassword(ctx, sub, *c.Password); failed == nil {
			changes = append(changes, "password -> changed")
		}
	}
	password := c.Password != nil && failed == nil
	if c == (Change{Password: c.Password}) {
		if what = "user password"; !password {
			return done, failed
		}
	}
	if done.SignedOut = password || done.After.Role != done.Before.Role || c.Disabled != nil &&
		*c.Disabled; done.SignedOut {
		var ended error
		if done.Sessions, ended = a.signOut(ctx, sub); ended == nil {
			changes = append(changes, "sessions and grants -> ended")
		}
		failed = errors.Join(failed, ended)
	}
	a.forget(sub)
	err = a.note(ctx, by, what, sub, changes...)
	if password {
		a.tell(ctx, by, event.NoticeAccount, "password changed, and signed out everywhere", sub)
	}
	if text := rights(done.Before, done.After); text != "" {
		a.tell(ctx, by, event.NoticeRole, text, sub)
	}
	return done, errors.Join(failed, err)
}

// before returns the user as they are, if the actor may make the change and it can be made.
func (a *Acts) before(ctx context.Context, by admin.Actor, sub string, c Change) (u storage.User, err error) {
	if err := may(by); err != nil {
		return u, err
	}
	if u, err = a.c.Store.User(ctx, sub); err != nil {
		return u, err
	}
	if c.Password != nil && by.Sub == sub {
		return u, ErrOneself
	}
	if c.Password != nil && a.c.CheckPassword != nil {
		amended := u
		c.amend(&amended)
		if err := a.c.CheckPassword(*c.Password, u.Username, u.Email, amended.Email); err != nil {
			return u, fmt.Errorf("%w: %w", storage.ErrInvalid, err)
		}
	}
	if c.Nickname != nil {
		err = checkNickname(*c.Nickname)
	}
	return u, err
}

// save changes the newest state of a user.
func (a *Acts) save(ctx context.Context, by admin.Actor, sub string, c Change) (before, after storage.User, err error) {
	save := a.c.Store.SaveUserKeepingAdmin
	if by.Operator != "" {
		save = a.c.Store.SaveUser
	}
	after, err = storage.RetryOnConflict(ctx, func() (storage.User, error) {
		u, err := a.c.Store.User(ctx, sub)
		if before = u; err != nil {
			return u, err
		}
		c.amend(&u)
		return save(ctx, u)
	})
	return before, after, err
}

func (c Change) amend(u *storage.User) {
	if c.Email != nil && *c.Email != u.Email {
		u.Email, u.EmailVerified = *c.Email, false
	}
	for _, text := range []struct{ to, from *string }{{&u.Role, c.Role}, {&u.Name, c.Name}, {&u.Nickname, c.Nickname}} {
		if text.from != nil {
			*text.to = *text.from
		}
	}
	if c.Attributes != nil {
		u.Attributes = merged(u.Attributes, *c.Attributes)
	}
	for _, on := range []struct{ to, from *bool }{{&u.Disabled, c.Disabled}, {&u.EmailVerified, c.EmailVerified}} {
		if on.from != nil {
			*on.to = *on.from
		}
	}
}

// settle makes the ways in by mail follow what is said of the address.
func (a *Acts) settle(ctx context.Context, u storage.User) (storage.User, error) {
	mailbox := ""
	if u.Email != "" && u.EmailVerified {
		var err error
		if mailbox, err = a.c.Mailbox(u.Email); err != nil {
			return u, fmt.Errorf("%w: %w", storage.ErrInvalid, err)
		}
	}
	settled, err := users.SettleEmail(ctx, a.c.Store, a.c.LinkEmail, u, mailbox)
	if errors.Is(err, storage.ErrExists) {
		return u, fmt.Errorf("%s belongs to another user, who signs in by it: %w", mailbox, storage.ErrExists)
	}
	return settled, err
}

func (a *Acts) setPassword(ctx context.Context, sub, password string) error {
	err := a.c.SetPassword(ctx, sub, password)
	if errors.Is(err, storage.ErrNotFound) {
		return ErrNoPassword
	}
	return err
}

// rights says how a change gives or takes rights, "" if it does neither.
func rights(before, after storage.User) string {
	var what []string
	switch {
	case before.Role == after.Role:
	case after.Role == "":
		what = append(what, "role taken away")
	default:
		what = append(what, "role is "+after.Role+" now")
	}
	if before.Disabled != after.Disabled {
		what = append(what, map[bool]string{true: "disabled", false: "enabled"}[after.Disabled])
	}
	return strings.Join(what, ", ")
}

// maxNickname is the longest nickname, in bytes.
const maxNickname = 200

func checkNickname(text string) error {
	if len(text) > maxNickname || strings.ContainsFunc(text, unicode.IsControl) {
		return fmt.Errorf("%w: nickname is a text of up to 200 bytes without control characters", storage.ErrInvalid)
	}
	return nil
}

// Erase removes a user (a sub) and what belongs to them, in steps that can break off: see users.Erase. It is on the
// trail, by sub and with no name, before anything is removed. They are told as long as there is an address: a notice
// that is not sent by then goes to nobody.
func (a *Acts) Erase(ctx context.Context, by admin.Actor, sub string) (users.Erased, error) {
	if err := may(by); err != nil {
		return users.Erased{}, err
	}
	if by.Sub == sub {
		return users.Erased{}, ErrOneself
	}
	note := func(ctx context.Context, e users.Erased) error {
		a.tell(ctx, by, event.NoticeAccount, "account erased", sub)
		err := a.note(ctx, by, "user erase", sub, e.Changes()...)
		if unrecorded := (*admin.Unrecorded)(nil); errors.As(err, &unrecorded) {
			err = fmt.Errorf("nothing is removed yet, because the audit trail could not be written: %w", unrecorded.Cause)
		}
		return err
	}
	e, err := users.Erase(ctx, a.c.Store, a.c.Revoke, note, sub)
	if err == nil {
		a.forget(sub)
	}
	return e, err
}

// Exported writes down that what is stored of a user was read by somebody else, and tells them.
func (a *Acts) Exported(ctx context.Context, by admin.Actor, sub string) error {
	if err := may(by); err != nil {
		return err
	}
	a.tell(ctx, by, event.NoticeAccount, "what is stored about you was exported", sub)
	return a.note(ctx, by, "user export", sub)
}
