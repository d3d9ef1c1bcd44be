package apps

import (
	"fmt"
	"slices"

	"github.com/keystile/keystile/storage/client"
)

const maxExchangers = 50

// checkKeys returns everything that is wrong with how an application proves itself by keys, and with what it may do for
// others by that proof: exchange tokens.
func (a App) checkKeys() (errs []error) {
	complain := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	if k := a.Keys; k != nil {
		switch {
		case a.Client != nil:
			complain("jwks: the document of this application says its keys")
		case a.Public:
			complain("jwks: a public application can keep no key: register another one without public")
		case (len(k.Set) == 0) == (k.URL == ""):
			complain("jwks: give keys, or the address where they are")
		case len(k.Set) > client.MaxKeys:
			complain("jwks: at most %d bytes", client.MaxKeys)
		}
	}
	if a.Exchange && a.Public {
		complain("exchange: a public application cannot prove that it is the one that may")
	}
	if len(a.ExchangeFor) > maxExchangers {
		complain("exchange_for: at most %d applications", maxExchangers)
	}
	for i, id := range a.ExchangeFor {
		if id == "" || len(id) > client.MaxID || slices.Contains(a.ExchangeFor[:i], id) {
			complain("exchange_for: %q: name each application once, by its client_id", id)
		}
	}
	return errs
}
