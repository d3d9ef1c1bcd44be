package remote

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"path"
	"strings"

	"github.com/keystile/keystile/internal/dpop"
	"github.com/keystile/keystile/internal/origin"
	"github.com/keystile/keystile/internal/reply"
)

// metadataRoot begins the path of a document (RFC 9728 3).
const metadataRoot = "/.well-known/oauth-protected-resource"

// Mount protects a handler and tells its clients where to sign in (RFC 9728): a stock MCP client that is given
// the address of an MCP endpoint finds the Keystile service by itself, signs its user in and comes back with a
// token. In mux, such as a *http.ServeMux or a *keystile.Service, it adds the handler at the path of resource,
// and a document beside it that anybody may read.
//
// The resource is the address as clients have it, such as https://api.example.com/mcp. Only tokens that were
// issued for it are accepted, with all these scopes: Audiences is for Verify and Require. The Keystile service
// issues them if the resource is in its oauth.TokensConfig.Resources. The handler finds the caller with
// CallerFrom.
//
// Name a scope that users are asked about for this alone, such as tools:orders: they have allowed profile to each
// application that they sign in to, and any of these can ask for a token for the resource.
func (v *Verifier) Mount(mux interface{ Handle(string, http.Handler) }, resource string, h http.Handler,
	scopes ...string) error {
	at, err := v.address(resource)
	if err != nil {
		return fmt.Errorf("remote: %w", err)
	}
	document := metadataRoot + strings.TrimSuffix(at.Path, "/")
	g := newGuard([]string{resource}, scopes, at.Scheme+"://"+at.Host+document)
	mux.Handle(at.Path, v.guarded(g, h))
	mux.Handle(document, metadata(resource, v.c.BaseURL, scopes))
	return nil
}

// address reads the address of a resource, whose path becomes a pattern of a mux and whose text a part of a header.
func (v *Verifier) address(resource string) (*url.URL, error) {
	if v.c.CheckEvery > 0 {
		return nil, errors.New("CheckEvery is for tokens of the service itself: leave it out to Mount a resource")
	}
	u, err := url.Parse(resource)
	if err != nil {
		return nil, fmt.Errorf("resource %q is no address such as https://api.example.com/mcp", resource)
	}
	if err := origin.Check("resource", u.Scheme+"://"+u.Host); err != nil {
		return nil, err
	}
	if u.Scheme == "http" && !v.c.AllowPlainHTTP && !isLoopback(u.Hostname()) {
		return nil, errors.New("resource is not https: anybody on the path can read its tokens (see AllowPlainHTTP)")
	}
	at := cmp.Or(u.Path, "/")
	plain := path.Clean(at) == at && u.Path != "/" && !strings.ContainsFunc(at, func(c rune) bool {
		return c <= ' ' || c > '~' || strings.ContainsRune(`{}"\%`, c)
	})
	if !plain || resource != u.Scheme+"://"+u.Host+u.Path {
		return nil, fmt.Errorf("resource %q: write an origin and a plain path, without a query or a slash at its end",
			resource)
	}
	u.Path = at
	return u, nil
}

// metadata serves the document of a resource (RFC 9728 2). Agents in browsers read it from any origin.
func metadata(resource, issuer string, scopes []string) http.Handler {
	body, _ := json.Marshal(struct { // texts and lists of texts never fail
		Resource string   `json:"resource"`
		Servers  []string `json:"authorization_servers"`
		Scopes   []string `json:"scopes_supported,omitempty"`
		Methods  []string `json:"bearer_methods_supported"`
		Algs     []string `json:"dpop_signing_alg_values_supported"`
		Bound    bool     `json:"dpop_bound_access_tokens_required"`
	}{resource, []string{issuer}, scopes, []string{"header"}, dpop.Algs(), false})
	document := reply.NewDocument(body)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Access-Control-Allow-Origin", "*")
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			w.Header().Set("Allow", "GET, HEAD")
			http.Error(w, "this document is only read", http.StatusMethodNotAllowed)
			return
		}
		document.Write(w, r)
	})
}
