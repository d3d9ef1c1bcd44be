package token

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/keystile/keystile/internal/handle"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/driver"
)

const (
	issuer = "https://id.example"
	week   = 168 * time.Hour
)

var errAway = errors.New("the store is away")

// fakeStore is a KeyStore in memory.
type fakeStore struct {
	mu   sync.Mutex
	keys []storage.SigningKey
	err  error
}

func (s *fakeStore) SigningKeys(context.Context) ([]storage.SigningKey, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.keys), s.err
}

func (s *fakeStore) FirstKeys(_ context.Context, alg string, keys ...storage.SigningKey) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !slices.ContainsFunc(s.keys, func(k storage.SigningKey) bool { return k.Alg == alg }) {
		s.keys = append(s.keys, keys...)
	}
	return s.err
}

func (s *fakeStore) set(keys ...storage.SigningKey) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.keys = keys
}

// wire is a Feed in memory.
type wire struct {
	mu     sync.Mutex
	facts  []driver.Revocation
	reads  int
	err    error
	slow   time.Duration // reads take so long
	behind time.Duration // what the clock is ahead of the time that has surely come
}

func (w *wire) RevokeDated(ctx context.Context, rs ...driver.Revocation) ([]driver.Revocation, error) {
	return rs, w.RestoreRevocations(ctx, rs...)
}

func (w *wire) Reached(now time.Time) time.Time { return now.Add(-w.behind) }

func (w *wire) RestoreRevocations(_ context.Context, rs ...driver.Revocation) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err != nil {
		return w.err
	}
	for _, r := range rs {
		r.Seq = uint64(len(w.facts) + 1)
		w.facts = append(w.facts, r)
	}
	return nil
}

func (w *wire) Revocations(ctx context.Context, after uint64, n int) ([]driver.Revocation, error) {
	w.mu.Lock()
	w.reads++
	facts, err, slow := w.facts[after:], w.err, w.slow
	w.mu.Unlock()
	if slow > 0 {
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(slow):
		}
	}
	return slices.Clone(facts[:min(n, len(facts))]), err
}

func (w *wire) fail(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.err = err
}

// verifier opens a verifier on stores of its own.
func verifier(t testing.TB, algs ...string) (*Verifier, *fakeStore) {
	t.Helper()
	s := &fakeStore{}
	keys, err := OpenKeys(t.Context(), s, algs...)
	if err != nil {
		t.Fatalf("OpenKeys() = %v, want no error", err)
	}
	revoked, err := OpenRevoked(t.Context(), &wire{})
	if err != nil {
		t.Fatalf("OpenRevoked() = %v, want no error", err)
	}
	return NewVerifier(VerifierConfig{Issuer: issuer, Keys: keys, Revoked: revoked}), s
}

func genuine() Claims {
	now := time.Now()
	return Claims{
		Issuer: issuer, Subject: "u1", Audience: issuer, ClientID: "app1", Scope: "openid profile",
		ID: "6Zy8uV1nQm2s0p4r7t9v3w", Grant: handle.NewGrant(now), IssuedAt: now, ExpiresAt: now.Add(week),
	}
}

// mint signs an access token with changed claims.
func mint(t testing.TB, keys *Keys, change func(*Claims)) string {
	t.Helper()
	c := genuine()
	if change != nil {
		change(&c)
	}
	token, err := keys.SignAccess(c)
	if err != nil {
		t.Fatalf("SignAccess() = %v, want no error", err)
	}
	return token
}

func newKey(t testing.TB, alg, state string) storage.SigningKey {
	t.Helper()
	k, err := NewKey(alg, state)
	if err != nil {
		t.Fatalf("NewKey(%s) = %v, want no error", alg, err)
	}
	return k
}
