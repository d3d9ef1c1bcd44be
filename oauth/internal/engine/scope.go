package engine

import (
	"cmp"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/keystile/keystile/internal/scope"
)

const (
	// maxScopes bounds the names of one grant, and of one consent page.
	maxScopes = 32
	// elevatedLifetime is the lifetime of an access token that manages applications.
	elevatedLifetime = time.Hour
)

func (e *Engine) grantable(name string) bool {
	return scope.Grantable(name) && (e.ElevatedAllowed || !scope.Elevated(name))
}

// Known returns the names of a requested scope that a user can grant here, each once.
func (e *Engine) Known(requested string) string { return knownScopes(requested, e.grantable, "") }

// wanted returns the scope that a request asks a user for. A request that names no known scope gets that of its
// resource: its application may be unable to ask for more later.
func (e *Engine) wanted(form url.Values) string {
	byDefault := ""
	if resource := form.Get("resource"); resource != "" && e.DefaultScope != nil {
		byDefault = knownScopes(e.DefaultScope(resource), e.grantable, "")
	}
	return knownScopes(form.Get("scope"), e.grantable, cmp.Or(byDefault, defaultScope))
}

// knownScopes returns the known names of a requested scope, in its order, each once; the default
// if there are none. Unknown names are ignored, never granted.
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

func (e *Engine) lifetime(granted string) time.Duration {
	if scope.HasElevated(granted) {
		return min(elevatedLifetime, e.AccessLifetime)
	}
	return e.AccessLifetime
}
