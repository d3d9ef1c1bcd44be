// Package importacts holds the act by which users come here from another product: see Acts.Import. The operator at the
// command line alone may do it, because whoever brings the hash of a password says who signs in.
//
// # Choices
//
// A user keeps a digest of the row that they were made by. So an import that was killed anywhere is repeated with the
// same file: a row whose username is that of a user with its digest is passed over, and what the user has changed since
// then stays. A username that is anybody else's, also that of a user who was made by another row, refuses the row.
//
// A user is written in one step with their logins and memberships, together with as many others as fit into it. Groups
// that are missing are made before. The audit trail has each user and each group, as if an administrator had made
// them, and the import as a whole when it ends. A process that is killed between the users of one call and their
// records leaves these users, up to a thousand, without one; their digest says where they are from.
package importacts

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/keystile/keystile/internal/admin"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/groups"
	"github.com/keystile/keystile/storage/people"
)

// Store keeps users and groups; *storage.Store implements it.
type Store interface {
	User(ctx context.Context, sub string) (storage.User, error)
	Taken(ctx context.Context, by []storage.Login) (people.Taken, error)
	CreateUsers(ctx context.Context, all []people.Newcomer, in [][]groups.Group) ([]storage.User, error)
	Group(ctx context.Context, name string) (groups.Group, error)
	SaveGroup(ctx context.Context, g groups.Group) (groups.Group, error)
}

// Config holds what New needs.
type Config struct {
	Store    Store
	Recorder admin.Recorder
	Forget   func(sub string) // makes the running service read a user anew; nil: nothing is cached of them

	// Adopt returns the user of a row with the login by username, for a hash of another product.
	Adopt   func(ctx context.Context, u storage.User, hash string) (storage.User, storage.Login, error)
	Mailbox func(address string) (string, error) // what an address is found by
	Issuers map[string]string                    // the names of the connectors that are configured, by issuer
}

// Acts are the acts. Make them with New.
type Acts struct{ c Config }

// New makes Acts.
func New(c Config) *Acts { return &Acts{c} }

// ErrNotOperator is the error of everybody but the operator.
var ErrNotOperator = errors.New("users are imported at the command line, by the operator")

// A row has one of these outcomes.
const (
	Made    = "made"
	Passed  = "passed" // an earlier row, of this run or of one before, has made the user
	Refused = "refused"
)

// Outcome says what has become of a row.
type Outcome struct {
	Is     string `json:"is"`
	Reason string `json:"reason,omitempty"` // of one that is refused

	// Of a row that would be made in a dry run: Names are digests of what no later row may have, and Mark is that of
	// the row itself, for Claims.
	Names []uint64 `json:"names,omitempty"`
	Mark  uint64   `json:"mark,omitempty"`
}

// Totals count the rows of an import.
type Totals struct {
	Format  string `json:"format"`
	Made    int    `json:"made"`
	Passed  int    `json:"passed"`
	Refused int    `json:"refused"`
}

// Import makes the users of some rows, and says of each what has become of it; dry looks only. After an error it is
// not known of all rows whether they were made: the same rows may be given again.
func (a *Acts) Import(ctx context.Context, by admin.Actor, rows []Row, dry bool) ([]Outcome, error) {
	if by.Operator == "" {
		return nil, ErrNotOperator
	}
	b := &batch{Acts: a, by: by, dry: dry, out: make([]Outcome, len(rows)), claims: Claims{}}
	if err := b.decide(ctx, rows); err != nil {
		return nil, err
	}
	if dry {
		return b.out, nil
	}
	if err := b.join(ctx); err != nil {
		return nil, err
	}
	return b.out, b.write(ctx)
}

// Finish writes an import down that has come to its end.
func (a *Acts) Finish(ctx context.Context, by admin.Actor, t Totals) error {
	if by.Operator == "" {
		return ErrNotOperator
	}
	return a.c.Recorder.Note(ctx, by, admin.Act{What: "user import", On: t.Format, Changes: []string{
		fmt.Sprintf("%d users made", t.Made), fmt.Sprintf("%d rows passed over", t.Passed),
		fmt.Sprintf("%d rows refused", t.Refused)}})
}

// note writes users who were made to the audit trail, all at once: the trail stores them together.
func (a *Acts) note(ctx context.Context, by admin.Actor, made []storage.User, in [][]string) error {
	var work sync.WaitGroup
	errs := make([]error, len(made))
	for i, u := range made {
		if a.c.Forget != nil {
			a.c.Forget(u.Sub)
		}
		changes := admin.UserChanges(storage.User{}, u)
		if len(in[i]) > 0 {
			changes = append(changes, "groups none -> "+strings.Join(in[i], ", "))
		}
		work.Go(func() {
			errs[i] = a.c.Recorder.Note(ctx, by, admin.Act{What: "user create", On: u.Sub, User: u.Sub, Changes: changes})
		})
	}
	work.Wait()
	return cmp.Or(errs...)
}
