package storage

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/keystile/keystile/storage/driver"
)

// MaxPasskeys bounds the passkeys of one user.
const MaxPasskeys = 20

// Factors holds what a user proves beside a sign-in method: an authenticator app, passkeys and recovery
// codes. It is one record, so that of two requests that use one code, or a code and its removal, one is
// refused. It stays when all factors are removed: its Epoch must not be used twice.
type Factors struct {
	UserID        string         `json:"user"`                    // the user's sub
	Authenticator *Authenticator `json:"authenticator,omitempty"` // nil: none
	Passkeys      []Passkey      `json:"passkeys,omitempty"`
	Recovery      []RecoveryCode `json:"recovery,omitempty"`
	Epoch         int64          `json:"epoch,omitempty"`    // raised when browsers that were trusted before are trusted no longer
	DueSince      time.Time      `json:"due_since,omitzero"` // since when a second factor is required of a user who has none
	UpdatedAt     time.Time      `json:"updated_at"`
	Version       int64          `json:"-"`
	carried
}

// Authenticator is an app that shows one-time codes (RFC 6238).
type Authenticator struct {
	Secret    Secret    `json:"-"`                   // base32 without padding, as users may type it
	LastStep  int64     `json:"last_step,omitempty"` // of the last code that was accepted: no earlier one is
	CreatedAt time.Time `json:"created_at,omitzero"`
	UsedAt    time.Time `json:"used_at,omitzero"`
	carried
}

// Passkey is a WebAuthn credential.
type Passkey struct {
	ID         string    `json:"id"`   // of the credential, base64url without padding
	Name       string    `json:"name"` // as its user calls it
	Credential string    `json:"credential"`
	Synced     bool      `json:"synced,omitempty"` // copied among its user's devices, so not bound to one
	CreatedAt  time.Time `json:"created_at"`
	UsedAt     time.Time `json:"used_at,omitzero"`
	carried
}

// RecoveryCode is a code that stands for a lost factor, once.
type RecoveryCode struct {
	Hash   string    `json:"hash"`
	UsedAt time.Time `json:"used_at,omitzero"`
	carried
}

var factors = kind[Factors]{
	name:    "factors",
	id:      func(f Factors) string { return f.UserID },
	index:   func(f Factors) []string { return []string{"user=" + f.UserID} },
	version: func(f *Factors) *int64 { return &f.Version },
	secrets: func(f *Factors) map[string]*Secret {
		if f.Authenticator == nil {
			return nil
		}
		return map[string]*Secret{"authenticator": &f.Authenticator.Secret}
	},
}

// Any reports whether a user has a second factor. Recovery codes alone are none.
func (f Factors) Any() bool { return f.Authenticator != nil || len(f.Passkeys) > 0 }

// CodesLeft returns how many recovery codes are unused.
func (f Factors) CodesLeft() (n int) {
	for _, c := range f.Recovery {
		if c.UsedAt.IsZero() {
			n++
		}
	}
	return n
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
	f, err := factors.get(ctx, s, sub)
	if errors.Is(err, ErrNotFound) && driver.ValidName(sub) {
		return Factors{UserID: sub}, nil
	}
	return f, err
}

// SaveFactors writes factors that have been read before. It returns ErrConflict if they have changed
// meanwhile, and ErrNotFound for a user who is being erased.
func (s *Store) SaveFactors(ctx context.Context, f Factors) (Factors, error) {
	if len(f.Passkeys) > MaxPasskeys {
		return f, fmt.Errorf("%w: a user has at most %d passkeys", ErrInvalid, MaxPasskeys)
	}
	if f.Any() {
		if err := s.requireFeature(ctx, secondFactors); err != nil { // a version before would let them in without
			return f, err
		}
	}
	f.UpdatedAt = time.Now().UTC()
	f, err := factors.putNew(ctx, s, f.UserID, f)
	if errors.Is(err, ErrExists) { // another request has written the first
		err = fmt.Errorf("%w: %w", ErrConflict, err)
	}
	return f, err
}

// Policies of second factors, each stricter than the one before.
const (
	MFAOff      = "off"      // not offered; whoever has one is asked for it
	MFAOffered  = "offered"  // users may add one, and are asked for it then
	MFARequired = "required" // users have to add one
)

// CheckMFA returns what is wrong with a policy. An empty one leaves the decision to others.
func CheckMFA(policy string) error {
	switch policy {
	case "", MFAOff, MFAOffered, MFARequired:
		return nil
	}
	return fmt.Errorf("%w: mfa: %q is neither off, offered nor required", ErrInvalid, policy)
}
