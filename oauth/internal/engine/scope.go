package engine

import (
	"slices"
	"strings"
	"time"

	"github.com/keystile/keystile/internal/scope"
)

const (
	// mostScopes bounds what one grant carries, and one page asks.
	maxScopes = 32
	// elevatedLifetime is how long an access token lives that manages applications.
	elevatedLifetime = time.Hour
)

// grantable reports whether a user can grant a scope here.
func (e *Engine) grantable(name string) bool {
	return scope.Grantable(name) && (e.ElevatedAllowed || !scope.Elevated(name))
}

// knownScopes keeps what is known of the scope asked for, in the order asked, once each; if
// nothing is left, it is the default. Unknown names are ignored, never granted.
func knownScopes(requested string, is func(string) bool, byDefault string) string {
	var out []string
	for name := range strings.FieldsSeq(requested) {
		if len(out) < maxScopes && is(name) && !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	if len(out) == 0 {
		return byDefault
	}
	return strings.Join(out, " ")
}

// lifetime is how long an access token with a scope lives.
func (e *Engine) lifetime(granted string) time.Duration {
	if scope.HasElevated(granted) {
		return min(elevatedLifetime, e.AccessLifetime)
	}
	return e.AccessLifetime
}
