package oauth

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/keystile/keystile/internal/netguard"
	"github.com/keystile/keystile/internal/reply"
	"github.com/keystile/keystile/internal/token"
	"github.com/keystile/keystile/internal/trusted"
	"github.com/keystile/keystile/oauth/internal/issuers"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/trust"
)

// AssertionsConfig says whose assertions are redeemed for access tokens (RFC 7523, decision 124). The zero value
// trusts those issuers that an operator has stored (keystile issuer add), and no other.
//
// An issuer asserts who a user is (an ID-JAG), or which workload runs. Both are redeemed at the token endpoint for a
// token of an hour, without a sign-in and without a refresh token. A token of a user is exchanged for one of another
// application (RFC 8693, decision 125), never for a wider one: act says who acts by it, and it ends with what it was
// exchanged for.
type AssertionsConfig struct {
	// Issuers are trusted besides those of the Store; of one that both have, this entry counts.
	Issuers []trust.Issuer

	// Connectors says by the name of which connector the users of an issuer are known here; "oidc" unless it is there.
	Connectors map[string]string

	// Users finds and makes the users of ID-JAGs; *signin.SignIn implements it. Nil: none is known.
	Users interface {
		// Asserted returns the user whom a connector knows by a subject, or an error that wraps storage.ErrNotFound. With
		// create a person who is unknown becomes a user, whose address is email, unconfirmed.
		Asserted(ctx context.Context, connector, subject, email string, create bool) (storage.User, error)
	}

	// AllowPrivate names what the keys of applications that were registered here may be read from although it is private:
	// a CIDR, an address or host:port.
	AllowPrivate []string

	// TokenEndpointAudience admits assertions of registered applications whose aud is the token endpoint, as older
	// libraries write it; otherwise it is the issuer alone.
	TokenEndpointAudience bool
}

// check reports everything that is wrong.
func (c AssertionsConfig) check() error {
	var errs []error
	var seen []string
	for _, i := range c.Issuers {
		if err := trusted.Check(i); err != nil {
			errs = append(errs, fmt.Errorf("Assertions.Issuers: %s: %w", i.Issuer, err))
		}
		if slices.Contains(seen, i.Issuer) {
			errs = append(errs, fmt.Errorf("Assertions.Issuers: %s is there twice", i.Issuer))
		}
		seen = append(seen, i.Issuer)
	}
	if _, err := netguard.New(netguard.Config{Allow: c.AllowPrivate}); err != nil {
		errs = append(errs, fmt.Errorf("Assertions.AllowPrivate: %w", err))
	}
	return errors.Join(errs...)
}

// trustedIssuer returns a trusted issuer, or storage.ErrNotFound.
func (k *core) trustedIssuer(ctx context.Context, issuer string) (trust.Issuer, error) {
	for _, i := range k.c.Assertions.Issuers {
		if i.Issuer == issuer {
			return i, nil
		}
	}
	if issuer == "" || len(issuer) > trust.MaxIssuer {
		return trust.Issuer{}, storage.ErrNotFound
	}
	return k.store.Issuer(ctx, issuer)
}

// keysOf returns where the keys of a registered application are, as those of an issuer.
func keysOf(app storage.App, private []string) (source trust.Issuer, fixed []byte) {
	return trust.Issuer{Issuer: app.ID, JWKSURI: app.Keys.URL, AllowPrivate: private}, app.Keys.Set
}

// signedBy calls check with the keys of an issuer. Those that are read from an address are read again, once, where
// check does not know the key: it may have been published since.
func (k *core) signedBy(ctx context.Context, source trust.Issuer, fixed []byte, check func(token.KeySet) error) error {
	if len(fixed) > 0 {
		keys, err := token.ReadKeySet(fixed)
		if err != nil {
			return err
		}
		return check(keys)
	}
	keys, err := k.keys.Of(ctx, source, false)
	if err == nil {
		err = check(keys)
	}
	if !errors.Is(err, token.ErrUnknownKey) {
		return err
	}
	if keys, err = k.keys.Of(ctx, source, true); err != nil {
		return err
	}
	return check(keys)
}

// badAssertion tells an application why its assertion is refused. Errors that are not of the assertion pass through.
func badAssertion(as *reply.Failure, name string, err error) error {
	switch {
	case errors.Is(err, token.ErrInvalid):
		reason := strings.TrimPrefix(err.Error(), token.ErrInvalid.Error()+": ")
		return as.Saying(name + " is not good: " + reason).Because(err)
	case errors.Is(err, issuers.ErrAway):
		return as.Saying(name + " cannot be checked: " + err.Error() + ". Try again in a minute").Because(err)
	}
	return err
}
