package storage

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/internal/document"
	"github.com/keystile/keystile/storage/service"
)

// Identity holds what a store is known by, so that one can be told from another before it is opened.
type Identity struct {
	Begun bool   // a store was opened over the backend before: else it is empty, or not a store
	ID    string // in the store itself, its copies and backups; "": a version before has made it, and gave it none
}

// settingStoreID is the setting that has the ID.
const settingStoreID = "store.id"

// IdentityOf reads the Identity of the store of a backend, and writes nothing. A host that knows that there were
// records looks at it before [Open], which makes an empty store where there is none: that is legitimate to a library,
// and only the host knows which store is its own.
func IdentityOf(ctx context.Context, backend driver.Backend) (Identity, error) {
	_, err := backend.Get(ctx, document.MarkKind, document.MarkID)
	if errors.Is(err, driver.ErrNotFound) {
		return Identity{}, nil
	}
	var setting struct {
		Value string `json:"value"`
	}
	if err == nil {
		var d driver.Doc
		if d, err = backend.Get(ctx, service.SettingKind, settingStoreID); errors.Is(err, driver.ErrNotFound) {
			return Identity{Begun: true}, nil
		}
		if err == nil {
			err = json.Unmarshal(d.Data, &setting)
		}
	}
	if err != nil {
		return Identity{}, fmt.Errorf("read what the store is known by: %w", err)
	}
	return Identity{Begun: true, ID: setting.Value}, nil
}

// Identify returns what the store is known by, as IdentityOf does. One that has no ID yet gets the one that is
// proposed, or one that is drawn.
func (s *Store) Identify(ctx context.Context, proposed string) (id string, err error) {
	id, err = s.Setting(ctx, settingStoreID)
	if err != nil || id != "" {
		return id, err
	}
	id = cmp.Or(proposed, rand.Text())
	if err = s.SetNew(ctx, settingStoreID, id); errors.Is(err, ErrExists) {
		return s.Setting(ctx, settingStoreID) // another process was first
	}
	return id, err
}
