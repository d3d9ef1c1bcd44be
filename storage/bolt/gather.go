package bolt

import (
	"context"
	"slices"

	"go.etcd.io/bbolt"

	"github.com/keystile/keystile/storage/driver"
)

// Gather answers several reads in one transaction.
func (s *Store) Gather(ctx context.Context, asks ...driver.Ask) (all []driver.Answer, err error) {
	err = s.view(ctx, func(tx *bbolt.Tx) (err error) {
		docs := docRows(tx)
		for _, ask := range asks {
			var a driver.Answer
			if len(ask.IDs) == 0 && ask.N > 0 {
				if a.Docs, a.Next, err = list(tx, ask.Kind, ask.Span, ask.N); err != nil {
					return err
				}
			}
			for _, id := range slices.Compact(slices.Sorted(slices.Values(ask.IDs))) {
				if !driver.ValidName(id) {
					continue
				}
				key := join(ask.Kind, id)
				value, err := docs.find(tx, key)
				if err != nil {
					return err
				}
				if value != nil {
					a.Docs = append(a.Docs, decodeDoc(key, value))
				}
			}
			all = append(all, a)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return all, nil
}
