package mcpbus

import (
	"encoding/json"
	"net/http"
	"strings"

	"github.com/keystile/keystile/internal/dpop"
	"github.com/keystile/keystile/internal/reply"
	"github.com/keystile/keystile/internal/scope"
	"github.com/keystile/keystile/storage/access"
)

const (
	Path = "/api/mcp" // of the bus (protocol 4.9)

	MaxPageSize = 1000 // of Config.PageSize

	// Bounds of Config.MaxName. Model APIs take 64 characters, of which clients need some for what they put in
	// front, such as mcp__keystile__; with less than 40 nobody could tell tools apart.
	MinName = 40
	MaxName = 64

	// Bounds of UpstreamsConfig.MaxAnswer, in bytes. A call that is under way may hold some 12
	// times as much as its answer has, 42 times where each character has to be escaped.
	MinAnswer = 64 << 10
	MaxAnswer = 16 << 20

	metadataRoot = "/.well-known/oauth-protected-resource"
	bundlePath   = "/b/" // below Path, and the name of a bundle behind it
)

// metadataPaths returns the paths of the RFC 9728 document: that of the bus, and the root for
// clients that look only there. Those of bundles are below bundlePaths.
func metadataPaths() []string { return []string{metadataRoot, metadataRoot + Path} }

// bundlePaths returns the prefixes of the paths of bundles and of their RFC 9728 documents. Each
// ends in a slash.
func bundlePaths() []string { return []string{Path + bundlePath, metadataRoot + Path + bundlePath} }

// Resources returns the RFC 8707 resources of the bus and its bundles at an issuer, for
// oauth.TokensConfig.Resources.
func Resources(issuer string) []string { return []string{issuer + Path, issuer + Path + bundlePath} }

// DefaultScope returns the scope of a token for a resource of the bus or of a bundle, for an application that asks for
// none, and "" for any other resource: for oauth.Config.DefaultScope. It is the scope that the challenge names. Of the
// Config it reads BaseURL and Scopes.
func (c Config) DefaultScope(resource string) string {
	if resource == c.BaseURL+Path {
		return strings.Join(scopesOf(c.Scopes), " ")
	}
	if name, ok := strings.CutPrefix(resource, c.BaseURL+Path+bundlePath); ok && access.IsBundleName(name) {
		return scope.Bundle(name)
	}
	return ""
}

// scopesOf returns the scopes of the whole bus that a Config names.
func scopesOf(named []string) []string {
	if named == nil {
		return []string{scope.Tools}
	}
	return named
}

func (b *Bus) routes() []reply.Route {
	document := b.metadata(&b.root)
	routes := []reply.Route{
		{Path: Path, Handle: b.serve, Fail: b.fail},
		{Path: Path + bundlePath + "{" + pathBundle + "}", Handle: b.serve, Fail: b.fail},
		{Path: metadataRoot + Path + bundlePath + "{" + pathBundle + "}", Methods: []string{"GET", "HEAD"},
			Handle: b.bundleMetadata},
	}
	for _, path := range metadataPaths() {
		routes = append(routes, reply.Route{Path: path, Methods: []string{"GET", "HEAD"},
			Handle: func(w http.ResponseWriter, r *http.Request) error {
				document.Write(w, r)
				return nil
			}})
	}
	return routes
}

// bundleMetadata serves the document of a bundle. It is derived from the name alone and exists
// for every name, so it does not reveal which bundles exist.
//
// Only callers with a token learn which bundles exist. A bundle of which the caller may use nothing exists, and
// is empty.
func (b *Bus) bundleMetadata(w http.ResponseWriter, r *http.Request) error {
	at, ok := b.addressOf(r)
	if !ok {
		return noBundle
	}
	b.metadata(at).Write(w, r)
	return nil
}

// metadata returns a protected resource's document (RFC 9728 2).
func (b *Bus) metadata(at *address) *reply.Document {
	body, _ := json.Marshal(struct { // texts and lists of texts never fail
		Resource string   `json:"resource"`
		Servers  []string `json:"authorization_servers"`
		Scopes   []string `json:"scopes_supported"`
		Methods  []string `json:"bearer_methods_supported"`
		Name     string   `json:"resource_name"`
		Algs     []string `json:"dpop_signing_alg_values_supported"`
		Bound    bool     `json:"dpop_bound_access_tokens_required"`
	}{at.uri, []string{b.c.BaseURL}, at.scopes, []string{"header"}, b.c.Name, dpop.Algs(), false})
	return reply.NewDocument(body)
}
