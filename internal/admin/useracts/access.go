package useracts

import (
	"context"
	"fmt"
	"net/netip"
	"time"

	"github.com/keystile/keystile/internal/admin"
	"github.com/keystile/keystile/internal/handle"
	"github.com/keystile/keystile/internal/users"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/event"
)

// maxInvitation is the longest that an invitation is of use, in days.
const maxInvitation = int(storage.MaxInvitationLife / (24 * time.Hour))

// Invite makes an invitation for one user, who gets a role, "" for none. Its code is not kept.
func (a *Acts) Invite(ctx context.Context, by admin.Actor, role string, days int) (code string, i storage.Invitation,
	err error) {
	if err := may(by); err != nil {
		return "", i, err
	}
	if days < 1 || days > maxInvitation {
		return "", i, fmt.Errorf("%w: days is a number from 1 to %d", storage.ErrInvalid, maxInvitation)
	}
	if err := a.c.Ways.CheckInvitation(); err != nil {
		return "", i, err
	}
	code, now := handle.NewInvitation(), time.Now().UTC()
	i, err = a.c.Store.SaveInvitation(ctx, storage.Invitation{
		ID: handle.HashInvitation(code), Role: role, CreatedAt: now, ExpiresAt: now.AddDate(0, 0, days),
	})
	if err != nil {
		return "", i, err
	}
	changes := []string{`role "" -> "` + role + `"`, "expires_at none -> " + i.ExpiresAt.Format(time.RFC3339)}
	return code, i, a.c.Recorder.Note(ctx, by, admin.Act{What: "user invite", On: i.ID[:12], Changes: changes})
}

// UnlockAddress lets an address sign in again after too many failures, and reports whether there were any.
func (a *Acts) UnlockAddress(ctx context.Context, by admin.Actor, ip netip.Addr) (bool, error) {
	if err := may(by); err != nil {
		return false, err
	}
	failed := a.unlock(ctx, ip)
	act := admin.Act{What: "lockout clear", On: ip.Unmap().String()}
	if failed {
		act.Changes = []string{forgotten(ip)}
	}
	return failed, a.c.Recorder.Note(ctx, by, act)
}

// UnlockUser forgets the failed sign-ins at a user's account and from addresses. It returns the addresses that had
// some, and whether the account had.
func (a *Acts) UnlockUser(ctx context.Context, by admin.Actor, u storage.User, from ...netip.Addr) (had []netip.Addr,
	account bool, err error) {
	if err := may(by); err != nil {
		return nil, false, err
	}
	var changes []string
	for _, ip := range from {
		if a.unlock(ctx, ip) {
			had, changes = append(had, ip.Unmap()), append(changes, forgotten(ip))
		}
	}
	if account = a.c.UnlockUser != nil && a.c.UnlockUser(ctx, u); account {
		changes = append(changes, "failed sign-ins at the account -> forgotten")
	}
	return had, account, a.note(ctx, by, "user unlock", u.Sub, changes...)
}

func (a *Acts) unlock(ctx context.Context, ip netip.Addr) bool {
	return a.c.Unlock != nil && a.c.Unlock(ctx, ip.Unmap())
}

func forgotten(ip netip.Addr) string {
	return "failed sign-ins from " + ip.Unmap().String() + " -> forgotten"
}

// ResetFactors removes the second factors of a user (a sub) who has lost them. The trust of their browsers ends, and
// where a factor is required of them the time to add one begins anew.
func (a *Acts) ResetFactors(ctx context.Context, by admin.Actor, sub string) (before, after storage.Factors,
	err error) {
	if err := may(by); err != nil {
		return before, after, err
	}
	before, after, err = users.ResetFactors(ctx, a.c.Store, sub)
	if err != nil {
		return before, after, err
	}
	a.tell(ctx, by, event.NoticeAccount, "second factors removed", sub)
	return before, after, a.note(ctx, by, "user factors reset", sub,
		"second factors "+before.Summary()+" -> "+after.Summary())
}
