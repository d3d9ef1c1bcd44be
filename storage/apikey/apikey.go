package apikey

import (
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/keystile/keystile/internal/record/forward"
	"github.com/keystile/keystile/storage/driver"
)

// carried keeps what a newer version has written into a record.
type carried = forward.Fields

var _ = []carried{Key{}.carried, Fence{}.carried}

const (
	MaxLife   = 366 * 24 * time.Hour // a year, also a leap year
	MaxLive   = 20                   // keys that a user has at once
	UsedEvery = time.Hour            // how exact Key.UsedAt is

	MaxName  = 100  // bytes
	MaxScope = 1000 // bytes
)

// ErrTooMany: the user has MaxLive keys.
var ErrTooMany = fmt.Errorf("%w: no more than %d API keys at once: revoke one first", driver.ErrInvalid, MaxLive)

// Key is an API key. Its text is kept only as a hash.
type Key struct {
	ID        string    `json:"id"`   // handle.Hash of its text
	UserID    string    `json:"user"` // the user's sub
	Name      string    `json:"name"` // as the user calls it
	Scope     string    `json:"scope"`
	CreatedAt time.Time `json:"created_at"`
	ExpiresAt time.Time `json:"expires_at"`
	UsedAt    time.Time `json:"used_at,omitzero"` // when it was last used, to the hour
	Version   int64     `json:"-"`
	carried
}

// Live reports whether the key is valid at a time.
func (k Key) Live(at time.Time) bool { return at.Before(k.ExpiresAt) }

// Check returns everything that is wrong with a new key at once. The code that makes keys decides
// what a scope may hold.
func (k Key) Check() error {
	var errs []error
	complain := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	if k.Name == "" || len(k.Name) > MaxName || !utf8.ValidString(k.Name) ||
		strings.ContainsFunc(k.Name, unicode.IsControl) {
		complain("name: give the key a name of 1 to %d bytes", MaxName)
	}
	if k.Scope == "" || len(k.Scope) > MaxScope {
		complain("scope: give the key a scope of 1 to %d bytes", MaxScope)
	}
	if life := k.ExpiresAt.Sub(k.CreatedAt); life <= 0 || life > MaxLife {
		complain("expires: a key is valid for a year at most")
	}
	if len(k.ID) != 64 || k.UserID == "" {
		complain("a key is stored by the SHA-256 of its text, and belongs to a user")
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("%w: API key: %w", driver.ErrInvalid, err)
	}
	return nil
}

// Fence is written with each key of a user that is made, and when all of them are ended, so that of
// two that are made at once neither is missed.
type Fence struct {
	UserID    string    `json:"user"`
	Ended     time.Time `json:"ended,omitzero"` // keys made before this are none
	ExpiresAt time.Time `json:"expires_at"`     // by then all that were being made have been
	Version   int64     `json:"-"`
	carried
}
