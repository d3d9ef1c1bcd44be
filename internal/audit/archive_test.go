package audit

import (
	"context"

	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/driver"
)

// A shelf has gaps between its Seqs, and was never pruned.
func (s *fakeStore) Appended(context.Context) (uint64, error) { return 0, nil }

func (s *fakeStore) Checkpoint(context.Context) (storage.Checkpoint, error) {
	return storage.Checkpoint{}, nil
}

// unpruned is a backend without a typed store before it.
type unpruned struct{ driver.Backend }

func (unpruned) Checkpoint(context.Context) (storage.Checkpoint, error) {
	return storage.Checkpoint{}, nil
}
