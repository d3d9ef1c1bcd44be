package apps

import (
	"context"

	"github.com/keystile/keystile/storage/internal/document"
	"github.com/keystile/keystile/storage/internal/find"
)

func (a App) texts() []string { return []string{a.Name, a.ID} }

func (a App) entries() []string {
	if a.Client != nil {
		return []string{"client"}
	}
	all := append(document.Owned(a.Owner), "all")
	if a.Owner != "" {
		all = append(all, find.Entries(document.ListOf(a.Owner), a.texts()...)...)
	}
	return append(all, find.Entries(document.ListOfAll, a.texts()...)...)
}

// FindApps is FindUsers for applications that were registered here, by name and client_id: all, or
// those of one owner (a sub).
func (s *Store) FindApps(ctx context.Context, prefix, owner, from string, n int) ([]App, string, error) {
	return document.Look(ctx, s.docs, Apps, App.texts, document.ListOf(owner), prefix, from, n)
}
