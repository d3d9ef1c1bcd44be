package serviceacts

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/keystile/keystile/internal/admin"
	"github.com/keystile/keystile/internal/netguard"
	"github.com/keystile/keystile/storage"
)

// SetUserWebhook changes where events of users are sent; "" for nowhere. The secret is drawn with the first address,
// and anew if renew is true; it is returned if it was drawn now. It is ErrInvalid for an address that nothing may be
// sent to.
func (a *Acts) SetUserWebhook(ctx context.Context, by admin.Actor, to string, renew bool) (drawn storage.Secret,
	err error) {
	if err := may(by); err != nil {
		return drawn, err
	}
	if err := checkWebhook(to); err != nil {
		return drawn, fmt.Errorf("%w: %w", storage.ErrInvalid, err)
	}
	before, secret, err := a.c.Webhook.UserWebhook(ctx)
	if err != nil {
		return drawn, err
	}
	if drawn, err = a.c.Webhook.SetUserWebhook(ctx, to, renew); err != nil {
		return drawn, err
	}
	var changes []string
	if before != to { // of an address, which may hold a key, the trail learns the server alone
		changes = append(changes, fmt.Sprintf("url %q -> %q", admin.ServerOf(before), admin.ServerOf(to)))
	}
	if !drawn.IsZero() {
		changes = append(changes, "secret "+admin.HashOf(secret)+" -> "+admin.HashOf(drawn))
	}
	return drawn, a.note(ctx, by, "webhook set", "users", changes...)
}

func checkWebhook(to string) error {
	if to == "" {
		return nil
	}
	u, err := netguard.CheckURL(to)
	switch {
	case err != nil:
		return fmt.Errorf("%s", strings.Replace(err.Error(), ": use auth_type and auth_secret", "", 1))
	case u.Scheme == "http" && !slices.Contains([]string{"localhost", "127.0.0.1", "::1"}, u.Hostname()):
		return fmt.Errorf("the URL must begin with https://, or be one of this machine")
	}
	return nil
}
