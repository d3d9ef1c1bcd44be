package token

import (
	"cmp"
	"context"
	"errors"
	"fmt"
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

// Faults of tokens that are otherwise good. Some of these tokens are sent with every request, such as
// those for another audience.
var (
	errExpired, errEarly = invalid("expired"), invalid("not valid yet")
	errRevoked, errKey   = invalid("revoked"), invalid("its key has gone")
	errAudience          = invalid("meant for another audience")
)

func invalid(reason string) error { return fmt.Errorf("%w: %s", ErrInvalid, reason) }

// VerifierConfig holds the parameters of NewVerifier; all but CacheSize are required.
type VerifierConfig struct {
	Issuer    string
	Keys      *Keys
	Revoked   *Revoked
	CacheSize int // good tokens to remember, 1 KB each; 0: 100,000
}

// Verifier checks access tokens (RFC 9068 4) and remembers the good ones.
type Verifier struct {
	issuer  string
	keys    *Keys
	revoked *Revoked
	cache   *cache.Texts[*passed] // good tokens by their whole text
}

const defaultCache = 100_000

func newCache(size int) *cache.Texts[*passed] {
	return cache.NewTexts[*passed](cmp.Or(size, defaultCache))
}

// NewVerifier makes a Verifier.
func NewVerifier(c VerifierConfig) *Verifier {
	return &Verifier{issuer: c.Issuer, keys: c.Keys, revoked: c.Revoked, cache: newCache(c.CacheSize)}
}

// Verify returns who a bearer token speaks for. The token must be meant for one of the
// audiences (see IsOneOf); without any, for the issuer. The errors are ErrInvalid and
// ErrStale.
//
// It does no I/O; the context is there for verifiers that ask another service.
func (v *Verifier) Verify(_ context.Context, bearer string, audiences ...string) (caller storage.Caller, err error) {
	t, audience, err := v.verify(bearer, audiences)
	if err != nil {
		return caller, err
	}
	caller = t.caller
	caller.Audience = audience
	return caller, nil
}

// verify returns a good token and which of its audiences was asked for.
func (v *Verifier) verify(bearer string, audiences []string) (t *passed, audience string, err error) {
	if len(bearer) > maxToken {
		return nil, "", invalid("longer than 8 KiB")
	}
	now := time.Now()
	keys := v.keys.at(now)
	t, known := v.cache.Get(bearer)
	if !known {
		if t, err = read(bearer, keys, v.issuer); err != nil {
			return nil, "", err
		}
	}
	if audience, err = v.check(t, keys, now, audiences); err != nil {
		return nil, "", err
	}
	if !known {
		v.cache.Put(bearer, t) // good ones only: nobody without a key can push them out
	}
	return t, audience, nil
}

// Facts holds what a good token says, for an application that asks about it (RFC 7662).
type Facts struct {
	Caller   storage.Caller
	IssuedAt time.Time
	MayAct   string // who may act for the user (RFC 8693 4.4); "": nobody is named
}

// Facts is Verify, and returns when the token was issued too.
func (v *Verifier) Facts(_ context.Context, bearer string, audiences ...string) (Facts, error) {
	t, audience, err := v.verify(bearer, audiences)
	if err != nil {
		return Facts{}, err
	}
	f := Facts{Caller: t.caller, IssuedAt: t.issuedAt, MayAct: t.mayAct}
	f.Caller.Audience = audience
	return f, nil
}

// Issued returns whom a token of this service speaks for, whatever it is meant for, even
// if it is revoked already: what a caller who wants to revoke it needs to know. A token
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
func (v *Verifier) check(t *passed, keys *keyset, now time.Time, audiences []string) (audience string, err error) {
	switch {
	case keys.byID[t.kid] == nil:
		return "", errKey
	case !now.Before(t.caller.ExpiresAt):
		return "", errExpired
	case now.Before(t.notBefore):
		return "", errEarly
	case v.revoked.stopsAgain(t):
		return "", errRevoked
	}
	if audience, err = t.meantFor(v.issuer, audiences); err != nil {
		return "", err
	}
	return audience, v.revoked.Stale(now)
}

func (t *passed) meantFor(issuer string, audiences []string) (string, error) {
	for _, aud := range t.audience {
		if len(audiences) == 0 && aud == issuer || IsOneOf(aud, audiences) {
			return aud, nil
		}
	}
	return "", errAudience
}
