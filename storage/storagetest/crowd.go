package storagetest

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/keystile/keystile/storage/driver"
)

// crowding are promises about many who write the same records at once. A database that takes
// its locks one by one ends some of these calls as deadlocks, and others half done.
func crowding() []promise {
	return []promise{
		{name: "8 writers who move units between documents in any order lose none, and every page shows all",
			test: transfers},
		{name: "8 creations of the same documents in opposite orders: one wins whole, the others are refused",
			test: oppositeCreations},
		{name: "8 issues of the same keys in opposite orders: one wins whole, the others are refused", test: oppositeIssues},
		{name: "8 exchanges that bring the same successors in opposite orders: one wins whole", test: oppositeSuccessors},
		{name: "8 callers who revoke the same in opposite orders are all answered, and the latest ends stay",
			test: oppositeRevokes},
		{name: "8 nodes that count on the same rows in opposite orders are all answered, and lose nothing",
			test: oppositeCounts},
		{name: "of 16 exchanges beside revocations at most one wins, none that began behind one, and no successor",
			test: exchangeBesideRevoke},
		{name: "a reader beside it sees all of an Issue, an Exchange or a Count, or nothing", test: halfSeen},
	}
}

// backwards is a copy of a list, turned round for every second caller.
func backwards[T any](caller int, list []T) []T {
	list = slices.Clone(list)
	if caller%2 == 1 {
		slices.Reverse(list)
	}
	return list
}

func transfers(t testing.TB, b driver.Backend) {
	const accounts, units, writers, each = 6, 20, 8, 8
	var docs []driver.Doc
	for i := range accounts {
		d := doc(fmt.Sprint(i), "account")
		d.Data = []byte{units}
		docs = append(docs, d)
	}
	put(t, b, docs...)
	answers := meanwhile(writers, each, func(i, j int) error {
		for {
			page, _, err := b.List(t.Context(), "thing", driver.Is("account"), accounts)
			if err != nil || len(page) != accounts {
				return fmt.Errorf("%d accounts: %w", len(page), err)
			}
			from, to, seen := &page[(i+j)%accounts], &page[(i*3+j+1)%accounts], page[(i+2*j+3)%accounts]
			moved := []driver.Doc{*from, *to, seen}
			if from.ID == to.ID || seen.ID == from.ID || seen.ID == to.ID {
				moved = []driver.Doc{page[i%2], page[5-i%2], page[2+i%2]}
			}
			if moved[0].Data[0] > 0 {
				moved[0].Data[0]--
				moved[1].Data[0]++
			}
			if _, err = b.Put(t.Context(), backwards(i, moved)...); !errors.Is(err, driver.ErrConflict) {
				return err
			}
		}
	}, func() {
		page, _, err := b.List(t.Context(), "thing", driver.Is("account"), accounts)
		want(t, "List(account)", err, nil)
		sum := 0
		for _, d := range page {
			sum += int(d.Data[0])
		}
		if len(page) != accounts || sum != accounts*units {
			t.Fatalf("List(account) shows %d units in %d documents beside Puts that move them, want %d in %d", sum, len(page),
				accounts*units, accounts)
		}
	})
	allNil(t, "Put(three accounts)", answers)
}
