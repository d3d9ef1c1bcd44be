package engine

import (
	"net/url"
	"strings"

	"github.com/keystile/keystile/internal/token"
)

// Target returns a resource (RFC 8707) in the form that tokens name it in. Clients take it from an
// address that a person has typed, or from a URL library: with a slash at the end, or with scheme
// and host in capitals. A resource that is not served here is returned unchanged.
func (e *Engine) Target(resource string) string {
	if resource == "" || e.isTarget(resource) {
		return resource
	}
	scheme, rest, ok := strings.Cut(resource, "://")
	if !ok {
		return resource
	}
	host, path := rest, ""
	if i := strings.IndexByte(rest, '/'); i >= 0 {
		host, path = rest[:i], rest[i:]
	}
	if canonical := strings.ToLower(scheme+"://"+host) + strings.TrimSuffix(path, "/"); e.isTarget(canonical) {
		return canonical
	}
	return resource
}

func (e *Engine) isTarget(resource string) bool {
	return resource == e.Issuer || token.IsOneOf(resource, e.Resources)
}

// CheckTarget refuses a resource that no token is issued for, as a Refusal.
func (e *Engine) CheckTarget(resource string) error { return e.checkTarget(resource) }

// Wanted returns the scope of a request that names none, for a resource.
func (e *Engine) Wanted(resource string) string { return e.wanted(url.Values{"resource": {resource}}) }

// checkTarget refuses a resource that no token is issued for.
func (e *Engine) checkTarget(resource string) error {
	if resource == "" || e.isTarget(resource) {
		return nil
	}
	return refuse(InvalidTarget, "resource is not one that this service issues tokens for")
}
