package service

import (
	"context"
	"fmt"
	"time"

	"github.com/keystile/keystile/internal/handle"
	"github.com/keystile/keystile/storage/internal/document"
	"github.com/keystile/keystile/storage/trust"
)

var issuers = document.Kind[trust.Issuer]{
	Name:    "issuer",
	ID:      func(i trust.Issuer) string { return handle.Hash(i.Issuer)[:32] },
	Index:   func(trust.Issuer) []string { return []string{"all"} },
	Version: func(i *trust.Issuer) *int64 { return &i.Version },
	Clone:   trust.Issuer.Clone,
}

// Issuer returns the trusted issuer of a URL, or ErrNotFound.
func (s *Store) Issuer(ctx context.Context, issuer string) (trust.Issuer, error) {
	return document.Get(ctx, s.docs, issuers, issuers.ID(trust.Issuer{Issuer: issuer}))
}

// Issuers returns a page of up to n trusted issuers, from the start or from a next of before.
func (s *Store) Issuers(ctx context.Context, from string, n int) ([]trust.Issuer, string, error) {
	return document.Page(ctx, s.docs, issuers, "all", from, n)
}

// SaveIssuer checks and writes a trusted issuer; a new one has the Version 0, and is an ErrExists if there is one.
func (s *Store) SaveIssuer(ctx context.Context, i trust.Issuer) (trust.Issuer, error) {
	if err := i.Check(); err != nil {
		return i, fmt.Errorf("%w: %w", document.ErrInvalid, err)
	}
	if i.UpdatedAt = time.Now().UTC(); i.Version == 0 {
		i.CreatedAt = i.UpdatedAt
	}
	return document.Put(ctx, s.docs, issuers, i)
}

// RemoveIssuer removes a trusted issuer. Tokens that its assertions were redeemed for go on until they end.
func (s *Store) RemoveIssuer(ctx context.Context, i trust.Issuer) error {
	return document.Remove(ctx, s.docs, issuers, i)
}
