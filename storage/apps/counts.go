package apps

import (
	"context"
	"slices"

	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/internal/document"
)

// CountApp adds to the counts what an application that is to be written adds.
func CountApp(t *document.Tally, a *App) {
	t.Apps += document.Recount(a.Version, &a.Counted, a.Client == nil)
}

func countWithout(t *document.Tally, a App) { t.Apps += document.Recount(a.Version, &a.Counted, false) }

func countOrders(t *document.Tally, all []Order) {
	for i := range all {
		t.Open += document.Recount(all[i].Version, &all[i].Counted, all[i].Open())
	}
}

// putApp writes an application.
func (s *Store) putApp(ctx context.Context, a App) (App, error) {
	return WriteApp(ctx, s, a, document.Tally{})
}

// WriteApp writes an application, and other documents in the same step. If it fails, the application
// is returned as it was.
func WriteApp(ctx context.Context, s *Store, a App, change document.Tally, beside ...driver.Doc) (App, error) {
	for _, needed := range a.features() {
		if err := document.RequireFeature(ctx, s.docs, needed); err != nil {
			return a, err
		}
	}
	marked := a
	CountApp(&change, &marked)
	d, err := Apps.Doc(s.docs, marked)
	if err != nil {
		return a, err
	}
	if marked.Version, err = document.WriteCounted(ctx, s.docs, change, append(slices.Clip(beside), d)...); err != nil {
		return a, err
	}
	return marked, nil
}
