package main

import (
	"cmp"
	"context"
	"slices"

	"github.com/keystile/keystile/oauth/signin/connector"
	"github.com/keystile/keystile/storage"
)

// way is the key of the table ways, in which stands whose it is: an employee's ID, or 0 for
// a badge that is still in the drawer. Badges and all other providers fit in one table.
type way struct{ method, subject string }

const unassigned = 0

// Connected implements users.ConnectedUsers. The table staff is written by the personnel
// department alone, so that nobody becomes a user by a badge: that is ErrNotFound. If
// anybody may sign up, insert a row instead, and all subjects with it.
func (s *staff) Connected(_ context.Context, method string, p connector.Profile) (storage.User, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	for _, subject := range p.Subjects { // the strongest first
		if id := s.ways[way{method, subject}]; id != unassigned {
			return s.rows[id].user(), nil
		}
	}
	return storage.User{}, storage.ErrNotFound
}

// Connect implements users.ConnectedUsers. In a database it is one transaction: of two
// users who take one badge at once, one gets it.
func (s *staff) Connect(_ context.Context, sub, method string, p connector.Profile) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	e, err := s.bySub(sub)
	if err != nil {
		return err
	}
	for _, subject := range p.Subjects {
		if owner := s.ways[way{method, subject}]; owner != unassigned && owner != e.ID {
			return storage.ErrExists
		}
	}
	for _, subject := range p.Subjects {
		s.ways[way{method, subject}] = e.ID
	}
	return nil
}

// Logins implements users.LoginStore: what the account page shows. The page reads of the
// PasswordHash only whether there is one.
func (s *staff) Logins(_ context.Context, sub string) ([]storage.Login, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	e, err := s.bySub(sub)
	if err != nil {
		return nil, err
	}
	all := []storage.Login{{Method: storage.LoginSelf, Subject: e.Email, UserID: sub, PasswordHash: e.PasswordHash}}
	for w, owner := range s.ways {
		if owner == e.ID {
			all = append(all, storage.Login{Method: w.method, Subject: w.subject, UserID: sub})
		}
	}
	slices.SortFunc(all[1:], func(x, y storage.Login) int {
		return cmp.Or(cmp.Compare(x.Method, y.Method), cmp.Compare(x.Subject, y.Subject))
	})
	return all, nil
}

// UnlinkLogins implements users.LoginStore: again one transaction. Checking keep leaves
// the user a login when two tabs unlink at once. A password stays, so only the table ways
// is checked.
func (s *staff) UnlinkLogins(_ context.Context, keep storage.Login, some ...storage.Login) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, l := range append(slices.Clone(some), keep) {
		owner := s.ways[way{l.Method, l.Subject}]
		if l.Method != storage.LoginSelf && s.rows[owner].sub() != l.UserID {
			return storage.ErrConflict
		}
	}
	for _, l := range some {
		s.ways[way{l.Method, l.Subject}] = unassigned
	}
	return nil
}
