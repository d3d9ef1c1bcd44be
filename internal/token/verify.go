package token

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/keystile/keystile/internal/cache"
	"github.com/keystile/keystile/storage"
)

var (
	// ErrInvalid: the token is no good, whatever the reason: 401. The text behind it is
	// for logs and quotes nothing of the token.
	ErrInvalid = errors.New("token: invalid")
	// ErrStale: the token is good as far as this node knows, but it has not heard of
	// revocations for too long: 503. It is an ErrUnavailable, so nobody takes it for anything else.
	ErrStale = fmt.Errorf("token: revocations are too old to trust: %w", storage.ErrUnavailable)
)

// ErrUnknownKey is an ErrInvalid: no published key has the kid of the token.
var ErrUnknownKey = invalid("unknown kid")

var errExpired, errEarly = invalid("expired"), invalid("not valid yet")

func invalid(reason string) error { return fmt.Errorf("%w: %s", ErrInvalid, reason) }

// VerifierConfig holds the parameters of NewVerifier; all but CacheSize are required.
type VerifierConfig struct {
	Issuer    string
	Keys      *Keys
	Revoked   *Revoked
	CacheSize int // good tokens to remember, 0.45 KB each; 0: 100,000
}

// Verifier checks access tokens (RFC 9068 4) and remembers the good ones.
type Verifier struct {
	issuer  string
	keys    *Keys
	revoked *Revoked
	cache   *cache.Cache[[sha256.Size]byte, *passed] // good tokens by the hash of their whole text
}

const defaultCache = 100_000

func newCache(size int) *cache.Cache[[sha256.Size]byte, *passed] {
	return cache.New[[sha256.Size]byte, *passed](cmp.Or(size, defaultCache))
}

// NewVerifier makes a Verifier.
func NewVerifier(c VerifierConfig) *Verifier {
	return &Verifier{issuer: c.Issuer, keys: c.Keys, revoked: c.Revoked, cache: newCache(c.CacheSize)}
}

// Verify returns who a bearer token speaks for. The token must be meant for one of the
// audiences (see IsOneOf); without any, for the issuer. The errors are ErrInvalid and
// ErrStale.
//
// It does no I/O; the context is there for verifiers that ask somebody else.
func (v *Verifier) Verify(_ context.Context, bearer string, audiences ...string) (storage.Caller, error) {
	_, caller, err := v.verify(bearer, audiences)
	return caller, err
}

func (v *Verifier) verify(bearer string, audiences []string) (*passed, storage.Caller, error) {
	if len(bearer) > maxToken {
		return nil, storage.Caller{}, invalid("longer than 8 KiB")
	}
	now := time.Now()
	keys := v.keys.at(now)
	sum := digest(bearer)
	if t, ok := v.cache.Get(sum); ok {
		caller, err := v.check(t, keys, now, audiences)
		return t, caller, err
	}
	t, err := read(bearer, keys, v.issuer)
	if err != nil {
		return nil, storage.Caller{}, err
	}
	caller, err := v.check(t, keys, now, audiences)
	if err == nil {
		v.cache.Put(sum, t) // good ones only: nobody without a key can push them out
	}
	return t, caller, err
}

// Facts holds what a good token says, for somebody who asks about it (RFC 7662).
type Facts struct {
	Caller   storage.Caller
	IssuedAt time.Time
}

// Facts is Verify, and returns when the token was issued too.
func (v *Verifier) Facts(_ context.Context, bearer string, audiences ...string) (Facts, error) {
	t, caller, err := v.verify(bearer, audiences)
	if err != nil {
		return Facts{}, err
	}
	return Facts{Caller: caller, IssuedAt: t.issuedAt}, nil
}

// digest is the SHA-256 of a whole token: a part has many wholes. It copies tokens of the
// usual size to the stack, because this is done for every request.
func digest(token string) [sha256.Size]byte {
	var usual [1 << 10]byte
	if len(token) <= len(usual) {
		return sha256.Sum256(usual[:copy(usual[:], token)])
	}
	return sha256.Sum256([]byte(token))
}

// Issued returns whom a token of this service speaks for, whatever it is meant for, even
// if it is revoked already: what somebody who wants to revoke it needs to know. A token
// that is not ours, or over, is ErrInvalid.
func (v *Verifier) Issued(bearer string) (storage.Caller, error) {
	if len(bearer) > maxToken {
		return storage.Caller{}, invalid("longer than 8 KiB")
	}
	now := time.Now()
	t, err := read(bearer, v.keys.at(now), v.issuer)
	if err != nil {
		return storage.Caller{}, err
	}
	if !now.Before(t.caller.ExpiresAt) {
		return storage.Caller{}, errExpired
	}
	return t.caller, nil
}

// check asks everything that can change while a token stays the same; a remembered token
// is asked it each time.
func (v *Verifier) check(t *passed, keys *keyset, now time.Time, audiences []string) (storage.Caller, error) {
	caller := t.caller
	switch {
	case keys.byID[t.kid] == nil:
		return storage.Caller{}, invalid("its key has gone")
	case !now.Before(caller.ExpiresAt):
		return storage.Caller{}, errExpired
	case now.Before(t.notBefore):
		return storage.Caller{}, errEarly
	case v.revoked.Stops(caller):
		return storage.Caller{}, invalid("revoked")
	}
	caller, err := t.meantFor(v.issuer, audiences)
	if err == nil {
		err = v.revoked.Stale(now)
	}
	if err != nil {
		return storage.Caller{}, err
	}
	return caller, nil
}

// meantFor returns the caller with the audience that the token is meant for.
func (t *passed) meantFor(issuer string, audiences []string) (storage.Caller, error) {
	i := slices.IndexFunc(t.audience, func(aud string) bool {
		return len(audiences) == 0 && aud == issuer || IsOneOf(aud, audiences)
	})
	if i < 0 {
		return storage.Caller{}, invalid("meant for another audience")
	}
	caller := t.caller
	caller.Audience = t.audience[i]
	return caller, nil
}
