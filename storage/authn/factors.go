package authn

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/internal/document"
	"github.com/keystile/keystile/storage/secret"
)

// Factors holds what a user proves beside a sign-in method: an authenticator app, passkeys and recovery
// codes. It is one record, so that of two requests that use one code, or a code and its removal, one is
// refused, and a guess is judged and counted in one step. It stays when all factors are removed: its Epoch must not be
// used twice.
type Factors struct {
	UserID        string         `json:"user"`                    // the user's sub
	Authenticator *Authenticator `json:"authenticator,omitempty"` // nil: none
	AppSecret     secret.Secret  `json:"-"`                       // of the authenticator, base32 without padding
	Passkeys      []Passkey      `json:"passkeys,omitempty"`
	Recovery      []RecoveryCode `json:"recovery,omitempty"`
	Epoch         int64          `json:"epoch,omitempty"`       // raised when browsers that were trusted before are trusted no longer
	WrongCodes    int            `json:"wrong_codes,omitempty"` // that were typed since a factor was right, wherever
	DueSince      time.Time      `json:"due_since,omitzero"`    // since when a second factor is required of a user who has none
	UpdatedAt     time.Time      `json:"updated_at"`
	Version       int64          `json:"-"`
	carried
}

var factors = document.Kind[Factors]{
	Name:    "factors",
	ID:      func(f Factors) string { return f.UserID },
	Index:   func(f Factors) []string { return []string{"user=" + f.UserID} },
	Version: func(f *Factors) *int64 { return &f.Version },
	Secrets: func(f *Factors) map[string]*secret.Secret {
		return map[string]*secret.Secret{"authenticator": &f.AppSecret}
	},
}

// Any reports whether a user has a second factor. Recovery codes alone are none.
func (f Factors) Any() bool { return f.Authenticator != nil || len(f.Passkeys) > 0 }

// CodesRest reports whether so many wrong codes were typed that those of the authenticator app are taken only after
// a first factor by email: whoever guesses knows another one, such as the password.
func (f Factors) CodesRest() bool { return f.WrongCodes >= WrongCodesRest }

// CodesStopped reports whether so many wrong codes were typed that none is taken, recovery codes included, until an
// operator lets the user in again or a passkey does.
func (f Factors) CodesStopped() bool { return f.WrongCodes >= WrongCodesMost }

// CodesLeft returns how many recovery codes are unused.
func (f Factors) CodesLeft() (n int) {
	for _, c := range f.Recovery {
		if c.UsedAt.IsZero() {
			n++
		}
	}
	return n
}

// Summary describes factors for an audit trail, without anything that proves them.
func (f Factors) Summary() string {
	var all []string
	if f.Authenticator != nil {
		all = append(all, "app of "+f.Authenticator.CreatedAt.UTC().Format(time.RFC3339))
	}
	if n := len(f.Passkeys); n > 0 {
		all = append(all, fmt.Sprintf("%d passkeys", n))
	}
	if n := f.CodesLeft(); n > 0 {
		all = append(all, fmt.Sprintf("%d recovery codes", n))
	}
	if len(all) == 0 {
		all = append(all, "none")
	}
	if f.WrongCodes > 0 {
		all = append(all, fmt.Sprintf("%d wrong codes", f.WrongCodes))
	}
	return strings.Join(all, ", ") + fmt.Sprintf(" (epoch %d)", f.Epoch)
}

// Passkey returns the passkey with an ID, nil if there is none.
func (f *Factors) Passkey(id string) *Passkey {
	i := slices.IndexFunc(f.Passkeys, func(p Passkey) bool { return p.ID == id })
	if i < 0 {
		return nil
	}
	return &f.Passkeys[i]
}

// Factors returns the factors of a user (a sub). Of who has never had any it is an empty record, to be
// saved as it is.
func (s *Store) Factors(ctx context.Context, sub string) (Factors, error) {
	f, err := document.Get(ctx, s.docs, factors, sub)
	if errors.Is(err, document.ErrNotFound) && driver.ValidName(sub) {
		return Factors{UserID: sub}, nil
	}
	return f, err
}

// SaveFactors writes factors that have been read before. It returns ErrConflict if they have changed
// meanwhile, and ErrNotFound for a user who is being erased.
func (s *Store) SaveFactors(ctx context.Context, f Factors) (Factors, error) {
	if len(f.Passkeys) > MaxPasskeys {
		return f, fmt.Errorf("%w: a user has at most %d passkeys", document.ErrInvalid, MaxPasskeys)
	}
	if f.Any() {
		// a version before would let them in without
		if err := document.RequireFeature(ctx, s.docs, document.SecondFactors); err != nil {
			return f, err
		}
	}
	f.UpdatedAt = time.Now().UTC()
	f, err := document.PutNew(ctx, s.docs, factors, f.UserID, f)
	if errors.Is(err, document.ErrExists) { // another request has written the first
		err = fmt.Errorf("%w: %w", document.ErrConflict, err)
	}
	return f, err
}
