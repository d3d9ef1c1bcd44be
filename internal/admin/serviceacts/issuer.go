package serviceacts

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/keystile/keystile/internal/admin"
	"github.com/keystile/keystile/internal/trusted"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/trust"
)

// Issuers keeps the trusted issuers; *storage.Store does.
type Issuers interface {
	Issuer(ctx context.Context, issuer string) (trust.Issuer, error)
	SaveIssuer(ctx context.Context, i trust.Issuer) (trust.Issuer, error)
	RemoveIssuer(ctx context.Context, i trust.Issuer) error
}

// AddIssuer has the assertions of an issuer redeemed from now on. One that is trusted already is a storage.ErrExists:
// to change it is to remove it first.
func (a *Acts) AddIssuer(ctx context.Context, by admin.Actor, i trust.Issuer) (trust.Issuer, error) {
	if err := may(by); err != nil {
		return i, err
	}
	if err := trusted.Check(i); err != nil {
		return i, fmt.Errorf("%w: %w", storage.ErrInvalid, err)
	}
	switch _, err := a.c.Issuers.Issuer(ctx, i.Issuer); {
	case err == nil:
		return i, fmt.Errorf("%w: %s is trusted already: remove it first", storage.ErrExists, i.Issuer)
	case !errors.Is(err, storage.ErrNotFound):
		return i, err
	}
	if err := a.announce(ctx, by, "issuer add", i.Issuer, issuerText(i)...); err != nil {
		return i, err
	}
	return a.c.Issuers.SaveIssuer(ctx, i)
}

// RemoveIssuer has the assertions of an issuer refused from now on. The tokens of those before end within an hour.
func (a *Acts) RemoveIssuer(ctx context.Context, by admin.Actor, issuer string) (i trust.Issuer, err error) {
	if err := may(by); err != nil {
		return i, err
	}
	i, err = storage.RetryOnConflict(ctx, func() (trust.Issuer, error) {
		i, err := a.c.Issuers.Issuer(ctx, issuer)
		if err == nil {
			err = a.c.Issuers.RemoveIssuer(ctx, i)
		}
		return i, err
	})
	if err != nil {
		return i, err
	}
	return i, a.note(ctx, by, "issuer remove", issuer)
}

// issuerText says what an issuer is trusted with.
func issuerText(i trust.Issuer) (changes []string) {
	add := func(name, value string) {
		if value != "" {
			changes = append(changes, name+" "+value)
		}
	}
	add("use", i.Use)
	add("jwks_uri", admin.ServerOf(i.JWKSURI))
	add("audience", i.Audience)
	if i.Create {
		add("create", "true")
	}
	add("scopes", strings.Join(i.Scopes, " "))
	for _, r := range i.Rules {
		add("rule", fmt.Sprintf("%q is %s", r.Subject, r.ClientID))
	}
	add("allow_private", strings.Join(i.AllowPrivate, " "))
	return changes
}
