package account

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/keystile/keystile/internal/page"
	"github.com/keystile/keystile/oauth/signin/internal/consent"
	"github.com/keystile/keystile/oauth/signin/internal/web"
	"github.com/keystile/keystile/storage"
)

type appRow struct {
	ID, Name string               // of a Client its host; "" if it has none
	Learns   []consent.Permission // none: consent was not needed
	Since    web.Moment
	Client   *consent.Stranger // nil: it was registered here
	Allowed  web.Moment        // the day on which it was last allowed something; zero: the day of Since, or never
}

// appRows returns the applications that a user has signed in or consented to, and not removed since: those
// that were registered here, and those that nobody registered, which are agents and tools.
func (a *Account) appRows(ctx context.Context, l page.Lang, sub string) (apps, agents []appRow, err error) {
	consents, err := a.Store.Consents(ctx, sub)
	if err != nil {
		return nil, nil, err
	}
	met, err := a.Store.OpenIDs(ctx, sub)
	if err != nil {
		return nil, nil, err
	}
	since, given := map[string]time.Time{}, map[string]storage.Consent{}
	for _, o := range met {
		if o.EndedAt.IsZero() {
			since[o.AppID] = o.CreatedAt
		}
	}
	for _, c := range consents {
		since[c.AppID], given[c.AppID] = c.CreatedAt, c
	}
	for id, at := range since {
		app, err := a.Store.App(ctx, id)
		if errors.Is(err, storage.ErrNotFound) {
			continue // removed, and all it was granted with it
		}
		if err != nil {
			return nil, nil, err
		}
		row := appRow{ID: id, Name: page.BrandOf(app).Name, Since: web.MomentOf(l, at), Client: consent.StrangerOf(app)}
		if row.Client == nil {
			row.Name = cmp.Or(row.Name, id)
		}
		if c, ok := given[id]; ok {
			row.Learns = consent.Permissions(c.Scope)
			if c.UpdatedAt.Sub(c.CreatedAt) >= time.Hour {
				row.Allowed = web.MomentOfDay(l, c.UpdatedAt)
			}
		}
		if row.Client == nil {
			apps = append(apps, row)
		} else {
			agents = append(agents, row)
		}
	}
	return newest(apps), newest(agents), nil
}

// newest returns so many rows as are shown, the newest first.
func newest(rows []appRow) []appRow {
	slices.SortFunc(rows, func(x, y appRow) int {
		return cmp.Or(cmp.Compare(y.Since.Machine, x.Since.Machine), cmp.Compare(x.ID, y.ID))
	})
	return rows[:min(len(rows), maxRows)]
}
