package mcpbus

import (
	"net/http"
	"strings"

	"github.com/keystile/keystile/internal/reply"
	"github.com/keystile/keystile/internal/scope"
	"github.com/keystile/keystile/storage/access"
)

// address describes one URL of the bus: of the whole bus, or of a bundle.
type address struct {
	bundle    string   // its name; "": the whole bus
	uri       string   // the resource that tokens for it name (RFC 8707)
	scopes    []string // scopes that the challenge names
	audiences []string // accepted audiences of tokens
	metadata  string   // URL of its RFC 9728 document
}

const pathBundle = "bundle" // of a path's pattern

// addressOf returns the address of a request; false if its path names no possible bundle.
func (b *Bus) addressOf(r *http.Request) (*address, bool) {
	name := r.PathValue(pathBundle)
	if name == "" {
		return &b.root, true
	}
	if !access.IsBundleName(name) {
		return &b.root, false
	}
	e := b.bundleAt(name)
	return &e, true
}

// bundleAt returns the address of a bundle, whether or not it exists.
func (b *Bus) bundleAt(name string) address {
	uri := b.root.uri + bundlePath + name
	return address{
		bundle: name, uri: uri, scopes: []string{scope.Bundle(name)}, metadata: b.root.metadata + bundlePath + name,
		audiences: []string{b.c.BaseURL, b.root.uri, uri}, // a token for the whole bus is good for each bundle
	}
}

// challenge returns the WWW-Authenticate header of a 401 (RFC 6750 3, RFC 9728 5.1).
func (e *address) challenge() string { return "Bearer " + e.needs() }

// needs returns what a challenge says beside its error.
func (e *address) needs() string {
	return `resource_metadata="` + e.metadata + `", scope="` + strings.Join(e.scopes, " ") + `"`
}

// insufficientScope adds a challenge to a failure that names the scope needed (RFC 6750 3.1).
func (e *address) insufficientScope(f *reply.Failure, needed string) *reply.Failure {
	return f.With("WWW-Authenticate", `Bearer error="insufficient_scope", scope="`+needed+`", resource_metadata="`+e.metadata+`"`)
}

// withoutSlash returns a request without the slash at the end of its path, as a copy where there is one.
func withoutSlash(r *http.Request) *http.Request {
	path, slash := strings.CutSuffix(r.URL.Path, "/")
	if !slash || path == "" || path == metadataRoot || r.URL.RawPath != "" {
		return r
	}
	out, u := *r, *r.URL
	u.Path, out.URL = path, &u
	return &out
}
