package claims

import (
	"context"
	"strings"

	"github.com/keystile/keystile/storage"
)

// maxApps bounds the applications whose rules are kept.
const maxApps = 16_384

// Apps finds what applications learn of users beside the usual claims, for callers of whom only the id is at hand. It
// keeps that, so that a token of an application without rules costs no reading.
type Apps struct {
	read  func(ctx context.Context, id string) (storage.App, error)
	known *memo[string, *storage.App]
}

// NewApps makes an Apps of applications as read returns them. Changed has to be called with all changes of them.
func NewApps(read func(ctx context.Context, id string) (storage.App, error)) *Apps {
	return &Apps{read, newMemo[string, *storage.App](maxApps)}
}

// Of returns an application, of which no more is there than its id, its rules and its filter of groups. It is shared:
// do not write to it. Its error is that of reading the application.
func (a *Apps) Of(ctx context.Context, id string) (*storage.App, error) {
	app, begun, ok := a.known.get(id)
	if ok {
		return app, nil
	}
	all, err := a.read(ctx, id)
	if err != nil {
		return nil, err
	}
	app = &storage.App{ID: strings.Clone(id), GroupFilter: all.GroupFilter, Claims: all.Claims}
	a.known.put(app.ID, app, begun)
	return app, nil
}

// Changed drops applications that have changed.
func (a *Apps) Changed(c storage.Change) {
	if c.Kind == storage.ChangedApps {
		a.known.drop(c.IDs == nil, c.IDs...)
	}
}
