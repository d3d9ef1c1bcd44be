package document

import (
	"context"
	"errors"
	"fmt"

	"github.com/keystile/keystile/storage/driver"
)

// Several master keys may open, one seals. The wrong one fails at Open with the id of the one that is needed.
//
// A store has a mark, sealed with the key that everything in it is sealed with. While that
// key changes there is one more for each key that may have sealed something by then: a
// process that lacks one of them fails at Open, and the change is known to be unfinished.
const (
	MarkKind  = "master"
	MarkID    = "check" // of the mark that is in every store, from the moment in which one was first opened
	markPlain = "keystile"
	markEntry = "rekey" // the index entry of the marks of a change
)

// checkMaster makes sure that keys opens every mark, and that there is one of the key it
// seals with. The first documents of a store are written with its first mark.
func (s *Store) checkMaster(ctx context.Context, keys *sealer, first ...driver.Doc) error {
	mark, err := s.backend.Get(ctx, MarkKind, MarkID)
	if errors.Is(err, ErrNotFound) {
		if _, err = s.backend.Put(ctx, append([]driver.Doc{keys.mark(MarkID)}, first...)...); err == nil {
			return nil
		}
		if !errors.Is(err, ErrExists) {
			return Unavailable("mark the master key", err)
		}
		mark, err = s.backend.Get(ctx, MarkKind, MarkID) // another process was first
	}
	if err != nil {
		return Unavailable("read the master key's mark", err)
	}
	more, err := s.changing(ctx)
	if err != nil {
		return err
	}
	left := false
	for _, d := range append(more, mark) {
		if err := keys.opens(d); err != nil {
			return err
		}
		left = left || keys.current(d.Data)
	}
	if left {
		return nil
	}
	d := keys.mark(keys.keys[0].name())
	d.Index = []string{markEntry}
	if _, err = s.backend.Put(ctx, d); errors.Is(err, ErrExists) {
		return nil
	}
	return Unavailable("mark the new master key", err)
}

// changing returns the marks of a change that has not ended.
func (s *Store) changing(ctx context.Context) ([]driver.Doc, error) {
	marks, _, err := s.backend.List(ctx, MarkKind, driver.Is(markEntry), driver.Page)
	return marks, Unavailable("read the marks of the master keys", err)
}

func (k *sealer) mark(id string) driver.Doc {
	return driver.Doc{Kind: MarkKind, ID: id, Data: k.seal(markPlain, place(MarkKind, id, ""))}
}

func (k *sealer) opens(mark driver.Doc) error {
	id := sealedBy(mark.Data)
	if !k.has(id) {
		return fmt.Errorf("%w: the store is sealed with key %s, this is key %s; hand over the key the store wants",
			ErrMasterKey, id, k.ids())
	}
	if plain, err := k.open(mark.Data, place(MarkKind, mark.ID, "")); err != nil || plain != markPlain {
		return fmt.Errorf("storage: the store's mark of master key %s was changed; the store is damaged: put a backup in "+
			"its place", id)
	}
	return nil
}
