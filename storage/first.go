package storage

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/keystile/keystile/storage/driver"
)

// CreateFirst is CreateUser, and makes an application and settings in the same step; a nil one is none. It returns
// ErrExists, and writes nothing, if any of it is there already: of several processes that find a store empty at once
// and write one setting of the same name, one makes everything and the others nothing, and one that is killed leaves
// all of it or nothing.
func (s *Store) CreateFirst(ctx context.Context, u User, app *App, set map[string]string, by ...Login) (User, error) {
	var change tally
	var along []driver.Doc
	if app != nil {
		a, err := app.complete(time.Now().UTC())
		if err != nil {
			return u, err
		}
		change.app(&a)
		d, err := apps.doc(s, a)
		if err != nil {
			return u, err
		}
		along = append(along, d)
	}
	for _, name := range slices.Sorted(maps.Keys(set)) {
		d, err := newSetting(s, name, set[name])
		if err != nil {
			return u, err
		}
		along = append(along, d)
	}
	return s.createUser(ctx, u, by, change, along...)
}

// SaveAppAs makes an application, as SaveApp does, and in the same step a setting that holds its ID. It returns
// ErrExists, and writes nothing, if the setting is there.
func (s *Store) SaveAppAs(ctx context.Context, setting string, a App) (App, error) {
	a, err := a.complete(time.Now().UTC())
	if err != nil {
		return a, err
	}
	d, err := newSetting(s, setting, a.ID)
	if err != nil {
		return a, err
	}
	return s.writeApp(ctx, a, tally{}, d)
}

// SetNew stores the value of a setting that is not there; else it returns ErrExists.
func (s *Store) SetNew(ctx context.Context, name, value string) error {
	d, err := newSetting(s, name, value)
	if err == nil {
		_, err = s.write(ctx, d)
	}
	return err
}

func newSetting(s *Store, name, value string) (driver.Doc, error) {
	return settings.doc(s, Setting{Name: name, Value: value, UpdatedAt: time.Now().UTC()})
}
