package storage

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/keystile/keystile/storage/driver"
)

// Consent records what a user has allowed an application to learn and to do.
type Consent struct {
	AppID     string    `json:"app"`
	UserID    string    `json:"user"`            // the user's sub
	Scope     string    `json:"scope"`           // what was allowed: sorted, separated by spaces
	Asked     string    `json:"asked,omitempty"` // what was asked for where the user allowed less, such as one bundle of tools; likewise
	Terms     string    `json:"terms,omitempty"` // App.Terms when the user was asked; other terms take another consent
	CreatedAt time.Time `json:"created_at"`
	UpdatedAt time.Time `json:"updated_at"`
	Version   int64     `json:"-"`

	// What was allowed for one grant, which uses it up, and until when it can be.
	Once      string    `json:"once,omitempty"`
	OnceUntil time.Time `json:"once_until,omitzero"`
	carried
}

var consents = kind[Consent]{
	name:    "consent",
	id:      func(c Consent) string { return c.AppID + "=" + c.UserID },
	index:   func(c Consent) []string { return []string{"user=" + c.UserID, "app=" + c.AppID} },
	version: func(c *Consent) *int64 { return &c.Version },
}

// With is the consent with more in it.
func (c Consent) With(scope string) Consent {
	c.Scope = union(c.Scope, scope)
	return c
}

func union(scope, more string) string {
	all := strings.Fields(scope + " " + more)
	slices.Sort(all)
	return strings.Join(slices.Compact(all), " ")
}

// Consent returns what a user has allowed an application, or ErrNotFound.
func (s *Store) Consent(ctx context.Context, appID, sub string) (Consent, error) {
	return consents.get(ctx, s, consents.id(Consent{AppID: appID, UserID: sub}))
}

// Consents returns everything a user has allowed.
func (s *Store) Consents(ctx context.Context, sub string) ([]Consent, error) {
	return consents.all(ctx, s, driver.Is("user="+sub))
}

// ConsentsOf is Consents for a page of up to n, from the start or from a next of before.
func (s *Store) ConsentsOf(ctx context.Context, sub, from string, n int) ([]Consent, string, error) {
	return consents.page(ctx, s, "user="+sub, from, n)
}

// ConsentsOfApp returns a page of up to n of what users have allowed an application, from the start or
// from a next of before.
func (s *Store) ConsentsOfApp(ctx context.Context, appID, from string, n int) ([]Consent, string, error) {
	return consents.page(ctx, s, "app="+appID, from, n)
}

// SaveConsent writes a consent. A new one of a user who is being erased is an ErrNotFound.
func (s *Store) SaveConsent(ctx context.Context, c Consent) (Consent, error) {
	c.UpdatedAt = time.Now().UTC()
	if c.Version == 0 {
		c.CreatedAt = c.UpdatedAt
	}
	return consents.putNew(ctx, s, c.UserID, c)
}

// EndConsent removes a consent that has been read before. The tokens granted under it are
// ended by a revocation of kind consent, which the caller writes afterwards: with a Before
// that is later than this call, it also covers what was being granted meanwhile.
func (s *Store) EndConsent(ctx context.Context, c Consent) error { return consents.remove(ctx, s, c) }
