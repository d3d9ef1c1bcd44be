// Package trusted checks issuers that an operator wants to trust, wherever they are typed.
package trusted

import (
	"errors"
	"fmt"

	"github.com/keystile/keystile/internal/netguard"
	"github.com/keystile/keystile/internal/scope"
	"github.com/keystile/keystile/storage/trust"
)

// Check returns everything that is wrong with an issuer, scopes that no assertion grants and addresses that cannot be
// read included.
func Check(i trust.Issuer) error {
	errs := []error{i.Check()}
	for _, name := range i.Scopes {
		if !scope.Grantable(name) || scope.Elevated(name) {
			errs = append(errs, fmt.Errorf("scopes: %q cannot be granted by an assertion", name))
		}
	}
	if _, err := netguard.New(netguard.Config{Allow: i.AllowPrivate}); err != nil {
		errs = append(errs, fmt.Errorf("allow_private: %w", err))
	}
	return errors.Join(errs...)
}
