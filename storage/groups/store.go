package groups

import (
	"context"
	"slices"

	"github.com/keystile/keystile/internal/record/forward"
	"github.com/keystile/keystile/storage/internal/clock"
	"github.com/keystile/keystile/storage/internal/document"
)

// Store reads and writes these records. The zero value is none: storage.Open makes it.
type Store struct {
	docs  *document.Store
	clock *clock.Clock
}

// New is for package storage.
func New(docs *document.Store, clock *clock.Clock) *Store { return &Store{docs, clock} }

// carried keeps what a newer version has written into a record.
type carried = forward.Fields

// Every record has it: one without would lose what a newer version has written.
var _ = []carried{
	Group{}.carried, Mapping{}.carried, Membership{}.carried, endedGroup{}.carried, endedGroups{}.carried,
	memberships{}.carried,
}

// OfUser names the kinds of documents that are removed with their user. Each document has the index entry user=SUB.
var OfUser = []string{memberKind.Name}

// Kinds are all kinds of these records, for package storage.
var Kinds = []document.AnyKind{groupEnds, groupKind, mappingKind, memberKind}

const step = 50 // documents that are read or written in one step

// Leave takes a user (a sub) who is erased from the managers of all groups.
func Leave(ctx context.Context, docs *document.Store, sub string) error {
	for {
		page, _, err := document.Page(ctx, docs, groupKind, managedBy(sub), "", step)
		if err != nil || len(page) == 0 {
			return err
		}
		for _, g := range page {
			_, err := document.Update(ctx, docs, groupKind, g.Name, func(g *Group) bool {
				was := len(g.Managers)
				g.Managers = slices.DeleteFunc(slices.Clone(g.Managers), func(m string) bool { return m == sub })
				return len(g.Managers) < was
			})
			if err != nil {
				return err
			}
		}
	}
}
