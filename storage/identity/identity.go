package identity

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/keystile/keystile/storage/driver"
)

// The documents that say it. The mark is in every store, from the moment in which one was first opened.
const (
	MarkKind    = "master"
	MarkID      = "check"
	SettingKind = "setting"
	SettingID   = "store.id"
)

// Identity holds what a store is known by to those who have to know whether they have the right one.
type Identity struct {
	Begun bool   // a store was opened over the backend before: else it is empty, or not a store
	ID    string // "": it has none yet, as those that versions before have made
}

// Of reads the Identity of the store of a backend, and writes nothing. A host that knows that there were records looks
// at it before storage.Open, which makes an empty store where there is none.
func Of(ctx context.Context, backend driver.Backend) (Identity, error) {
	_, err := backend.Get(ctx, MarkKind, MarkID)
	if errors.Is(err, driver.ErrNotFound) {
		return Identity{}, nil
	}
	var setting struct {
		Value string `json:"value"`
	}
	if err == nil {
		var d driver.Doc
		if d, err = backend.Get(ctx, SettingKind, SettingID); errors.Is(err, driver.ErrNotFound) {
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
