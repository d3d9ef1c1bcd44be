// Package stepup asks the one question that stands before whatever must not be open to a browser that its user has
// left, a stolen cookie or a stolen password: has this session proved within ten minutes what its user has? It is asked
// before somebody sees or rotates a secret, changes where users are sent, changes a role or a way to sign in, downloads
// what is held about them, deletes, or hands an application the management of others (decisions 52, 57 and 91).
//
// A user has one factor, or two if they have set up a second one. A browser that they trust spares them the second
// one at a sign-in to an application; the session that begins so has not proved it.
//
// There is no second function for the time alone, so that nobody can pick the wrong one. A test holds that nobody calls
// Fresh with a proof that was looked at nowhere.
package stepup

import (
	"context"
	"time"

	"github.com/keystile/keystile/storage"
)

// MaxAge bounds the age of the sign-in.
const MaxAge = 10 * time.Minute

// skew bounds the difference between the clocks of two machines.
const skew = time.Minute

// Fresh reports whether a session is fresh at now: its user authenticated at auth, and it has proved what they have, as
// Proved or ProvedBy says. A sign-in in the future, by more than clocks differ, is not fresh: it would stay so for as
// long as a clock ran ahead.
func Fresh(auth time.Time, proved bool, now time.Time) bool {
	age := now.Sub(auth)
	return proved && -skew <= age && age <= MaxAge
}

// Proved reports whether a session has proved what its user has: a second factor too, if they have one.
func Proved(v storage.Session, f storage.Factors) bool { return v.Multifactor() || !f.Any() }

// Prover knows what sessions have proved; *signin.SignIn does.
type Prover interface {
	// Proved is the function Proved for the factors that the user of a session has now.
	Proved(ctx context.Context, v storage.Session) (bool, error)
}

// Store keeps second factors; *storage.Store does.
type Store interface {
	// Factors returns what a user (a sub) has: an empty record if the user has none.
	Factors(ctx context.Context, sub string) (storage.Factors, error)
}

// By returns a Prover that reads factors from a Store.
func By(s Store) Prover { return stored{s} }

type stored struct{ Store }

func (s stored) Proved(ctx context.Context, v storage.Session) (bool, error) {
	if v.Multifactor() {
		return true, nil
	}
	f, err := s.Factors(ctx, v.UserID)
	return err == nil && Proved(v, f), err
}
