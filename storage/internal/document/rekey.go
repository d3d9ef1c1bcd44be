package document

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/secret"
)

// SealedWith returns the id of the master key that everything in the store is sealed with;
// during a change of the key, that of the old one.
func (s *Store) SealedWith(ctx context.Context) (string, error) {
	mark, err := s.backend.Get(ctx, MarkKind, MarkID)
	return sealedBy(mark.Data), Unavailable("read the master key's mark", err)
}

// Rekeying reports whether a change of the master key has begun and not ended: the store
// then needs more than one key at Open.
func (s *Store) Rekeying(ctx context.Context) (bool, error) {
	marks, err := s.changing(ctx)
	return len(marks) > 0, err
}

// BeginRekey seals with the first of the keys from now on. All of them open, and so do the
// previous ones. It fails, and changes nothing, if the store holds something that none of
// the given keys opens: the next Open would fail.
//
// A master key is changed in three steps. BeginRekey comes when the new key is kept where
// the next start finds it, in front of the old one; [Store.Reseal] brings every document
// under it; [Store.EndRekey] comes when the old key is put away. A change that is interrupted
// is done again from the first step, with the same keys. Of several processes on one
// store all seal with the new key before one of them calls Reseal.
func (s *Store) BeginRekey(ctx context.Context, keys ...secret.MasterKey) error {
	next, err := newSealer(keys)
	if err != nil {
		return err
	}
	if err := s.checkMaster(ctx, next); err != nil {
		return err
	}
	s.sealing.Lock() // waits for writes with the old key
	defer s.sealing.Unlock()
	next.keys = append(next.keys, s.sealer.Load().keys...)
	s.sealer.Store(next)
	s.rekeyed = true
	return nil
}

// Reseal seals with the present key whatever is sealed with another one, and returns how
// many documents that were. It may run while the store is in use, be stopped at any point,
// and run again. A text that does not open ends it: nothing is written over it.
func (s *Store) Reseal(ctx context.Context) (total int, err error) {
	for _, kind := range s.sealedKinds {
		n, err := s.resealKind(ctx, kind)
		total += n
		if err != nil {
			return total, err
		}
	}
	_, err = RetryOnConflict(ctx, func() (int64, error) {
		mark, err := s.backend.Get(ctx, MarkKind, MarkID)
		if err != nil || s.sealer.Load().current(mark.Data) {
			return 0, Unavailable("read the master key's mark", err)
		}
		next := s.sealer.Load().mark(MarkID)
		next.Version = mark.Version
		return Write(ctx, s, next)
	})
	return total, err
}

// EndRekey ends the change of the master key: from now on the store needs the present key
// alone. It fails with ErrInvalid if Reseal is not done.
func (s *Store) EndRekey(ctx context.Context) error {
	id, err := s.SealedWith(ctx)
	if err != nil {
		return err
	}
	if now := s.sealer.Load().keys[0].name(); id != now {
		return fmt.Errorf("%w: the store is sealed with master key %s, not with %s alone: call Reseal first", ErrInvalid, id,
			now)
	}
	marks, err := s.changing(ctx)
	for i := range marks {
		marks[i].Deleted = true
	}
	if err != nil || len(marks) == 0 {
		return err
	}
	_, err = Write(ctx, s, marks...)
	return err
}

// whole spans all entries: none of ours begins with the last character of Unicode. A
// document under two of them comes twice, and the second time it is sealed already.
var whole = driver.Span{To: "\U0010FFFF"}

// resealKind needs one walk only: what comes into the store behind it, and what moves to
// another entry, was written after BeginRekey and is sealed with the new key.
func (s *Store) resealKind(ctx context.Context, kind string) (total int, err error) {
	for span := whole; ; {
		page, next, err := s.backend.List(ctx, kind, span, MaxDocs)
		if err != nil {
			return total, Unavailable("list "+kind, err)
		}
		n, err := s.resealPage(ctx, page)
		total += n
		if err != nil || next == "" {
			return total, err
		}
		if err := ctx.Err(); err != nil {
			return total, err
		}
		span.From = next
	}
}

// resealPage writes a page in one step or, if one of its documents has changed meanwhile,
// each by itself.
func (s *Store) resealPage(ctx context.Context, page []driver.Doc) (n int, err error) {
	var old []driver.Doc
	for _, d := range page {
		next, changed, err := s.sealer.Load().reseal(d)
		if err != nil {
			return 0, err
		}
		if changed && !slices.ContainsFunc(old, func(o driver.Doc) bool { return o.ID == d.ID }) {
			old = append(old, next)
		}
	}
	if len(old) == 0 {
		return 0, nil
	}
	switch _, err = Write(ctx, s, old...); {
	case err == nil:
		return len(old), nil
	case !errors.Is(err, ErrConflict):
		return 0, err
	}
	for _, d := range old {
		done, err := RetryOnConflict(ctx, func() (bool, error) { return s.resealOne(ctx, d.Kind, d.ID) })
		if err != nil {
			return n, err
		}
		if done {
			n++
		}
	}
	return n, nil
}

func (s *Store) resealOne(ctx context.Context, kind, id string) (bool, error) {
	d, err := s.backend.Get(ctx, kind, id)
	if errors.Is(err, ErrNotFound) { // removed meanwhile
		return false, nil
	}
	if err != nil {
		return false, Unavailable("get "+kind, err)
	}
	d, changed, err := s.sealer.Load().reseal(d)
	if err != nil || !changed {
		return false, err
	}
	_, err = Write(ctx, s, d)
	return err == nil, err
}

// current seals again texts that were sealed before the key changed and are written after it.
func (s *Store) current(docs []driver.Doc) ([]driver.Doc, error) {
	docs = slices.Clone(docs)
	for i, d := range docs {
		if d.Deleted || !slices.Contains(s.sealedKinds, d.Kind) {
			continue
		}
		next, _, err := s.sealer.Load().reseal(d)
		if err != nil {
			return nil, err
		}
		docs[i] = next
	}
	return docs, nil
}

// reseal seals the texts of a document with the present key, and reports whether one of
// them was sealed with another. The record beside them stays byte for byte what it is.
func (k *sealer) reseal(d driver.Doc) (_ driver.Doc, changed bool, err error) {
	record, line, has := bytes.Cut(d.Data, newline)
	if !has {
		return d, false, nil
	}
	var texts map[string][]byte
	if err := json.Unmarshal(line, &texts); err != nil {
		return d, false, Unreadable(d, err)
	}
	for field, text := range texts {
		if k.current(text) {
			continue
		}
		plain, err := k.open(text, place(d.Kind, d.ID, field))
		if err != nil {
			return d, false, Unreadable(d, err)
		}
		texts[field], changed = k.seal(plain, place(d.Kind, d.ID, field)), true
	}
	if !changed {
		return d, false, nil
	}
	line, err = json.Marshal(texts)
	d.Data = bytes.Join([][]byte{record, line}, newline)
	return d, true, err
}
