package document

import "github.com/keystile/keystile/storage/state"

// forgetter is a memo of whatever records.
type forgetter interface {
	Forget(id string)
	ForgetAll()
}

// forget drops what is remembered of a document.
func (s *Store) forget(kind, id string) {
	if m, ok := s.memos.Load(kind); ok {
		m.(forgetter).Forget(id)
	}
}

// forgetChanged drops what is remembered of documents that another process may have changed.
func (s *Store) forgetChanged(c state.Change) {
	m, ok := s.memos.Load(c.Kind)
	switch {
	case !ok:
	case c.IDs == nil:
		m.(forgetter).ForgetAll()
	default:
		for _, id := range c.IDs {
			m.(forgetter).Forget(id)
		}
	}
}
