package service

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"

	"github.com/keystile/keystile/storage/identity"
	"github.com/keystile/keystile/storage/internal/document"
)

// Identify returns what the store is known by, as identity.Of does. One that has no ID yet gets the one that is
// proposed, or one that is drawn.
func (s *Store) Identify(ctx context.Context, proposed string) (id string, err error) {
	id, err = s.Setting(ctx, identity.SettingID)
	if err != nil || id != "" {
		return id, err
	}
	id = cmp.Or(proposed, rand.Text())
	if err = s.SetNew(ctx, identity.SettingID, id); errors.Is(err, document.ErrExists) {
		return s.Setting(ctx, identity.SettingID) // another process was first
	}
	return id, err
}
