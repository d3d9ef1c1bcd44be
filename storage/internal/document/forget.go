package document

import "github.com/keystile/keystile/storage/state"

// remembered holds the records of a kind that were read before, and how they are dropped, which needs no kind.
type remembered struct {
	records   any // a *cache.Versioned of the kind's
	forget    func(id string)
	forgetAll func()
}

// remembered returns those of a kind by its name; nil: none was read yet.
func (s *Store) remembered(kind string) *remembered {
	known, _ := s.memos.Load(kind)
	r, _ := known.(*remembered)
	return r
}

// forget drops what is remembered of a document.
func (s *Store) forget(kind, id string) {
	if r := s.remembered(kind); r != nil {
		r.forget(id)
	}
}

// forgetChanged drops what is remembered of documents that another process may have changed.
func (s *Store) forgetChanged(c state.Change) {
	if r := s.remembered(c.Kind); r != nil && c.IDs == nil {
		r.forgetAll()
	}
	for _, id := range c.IDs {
		s.forget(c.Kind, id)
	}
}
