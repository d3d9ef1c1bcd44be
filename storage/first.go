package storage

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/keystile/keystile/storage/apps"
	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/internal/document"
	"github.com/keystile/keystile/storage/people"
	"github.com/keystile/keystile/storage/service"
)

// CreateFirst is CreateUser, and makes an application and settings in the same step; a nil one is none. It returns
// ErrExists, and writes nothing, if any of it is there already: of several processes that find a store empty at once
// and write one setting of the same name, one makes everything and the others nothing, and one that is killed leaves
// all of it or nothing.
func (s *Store) CreateFirst(ctx context.Context, u User, app *App, set map[string]string, by ...Login) (User, error) {
	var change document.Tally
	var along []driver.Doc
	if app != nil {
		a, err := app.Complete(time.Now().UTC())
		if err != nil {
			return u, err
		}
		apps.CountApp(&change, &a)
		d, err := apps.Apps.Doc(s.documents, a)
		if err != nil {
			return u, err
		}
		along = append(along, d)
	}
	for _, name := range slices.Sorted(maps.Keys(set)) {
		d, err := service.NewSetting(s.documents, name, set[name])
		if err != nil {
			return u, err
		}
		along = append(along, d)
	}
	return people.Create(ctx, s.peopleStore, u, by, change, along...)
}

// SaveAppAs makes an application, as SaveApp does, and in the same step a setting that holds its ID. It returns
// ErrExists, and writes nothing, if the setting is there.
func (s *Store) SaveAppAs(ctx context.Context, setting string, a App) (App, error) {
	a, err := a.Complete(time.Now().UTC())
	if err != nil {
		return a, err
	}
	d, err := service.NewSetting(s.documents, setting, a.ID)
	if err != nil {
		return a, err
	}
	return apps.WriteApp(ctx, s.appStore, a, document.Tally{}, d)
}
