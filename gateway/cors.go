package gateway

import (
	"net/http"
	"slices"
	"strings"
)

// CORS says which pages of other origins may read which answers. Paths end in a slash to
// name all below them.
type CORS struct {
	// Open paths answer every origin, without credentials: a bearer token is sent by code
	// that has it, never by the browser itself. nil: OpenPaths().
	Open []string
	// Shared paths answer the Origins, with credentials: they know their visitor by cookie.
	Shared  []string
	Origins []string // such as https://console.example.com
}

// OpenPaths are the endpoints that nobody reaches by cookie.
func OpenPaths() []string {
	return []string{
		"/oauth/token", "/oauth/token.php", "/oauth/revoke", "/oauth/revoke.php",
		"/oauth/userinfo", "/oauth/userinfo.php", "/oauth/jwks", "/oauth/jwks.php",
		"/.well-known/", "/api/v1/", "/api/mcp", "/api/mcp/", "/openapi.json",
	}
}

var (
	anyOrigin      = []string{"*"}
	anyMethod      = []string{"GET, HEAD, POST, PUT, PATCH, DELETE"}
	anyHeader      = []string{"*, Authorization"} // the star does not cover Authorization (Fetch 4.10)
	twoHours       = []string{"7200"}
	varyOrigin     = []string{"Origin"}
	withCookies    = []string{"true"}
	sharedHeaders  = []string{"Content-Type, X-Request-Id"}
	sharedExposed  = []string{"Retry-After, RateLimit, RateLimit-Policy, X-Request-Id"}
	noLongerStored = []string{"no-store"}
)

// cross writes the CORS headers of an answer, and answers a preflight. It comes before
// everything that counts or refuses: a browser shows its page nothing of an answer
// without these headers, and never sends a token with a preflight.
func (c *CORS) cross(w http.ResponseWriter, r *http.Request) (answered bool) {
	switch path := r.URL.Path; {
	case covers(c.Open, path):
		return c.open(w, r)
	case covers(c.Shared, path):
		return c.share(w, r)
	}
	return false
}

func (c *CORS) open(w http.ResponseWriter, r *http.Request) bool {
	h := w.Header()
	h["Access-Control-Allow-Origin"] = anyOrigin
	if !preflight(r) {
		h["Access-Control-Expose-Headers"] = anyOrigin
		return false
	}
	h["Access-Control-Allow-Methods"] = anyMethod
	h["Access-Control-Allow-Headers"] = anyHeader
	h["Access-Control-Max-Age"] = twoHours
	w.WriteHeader(http.StatusNoContent)
	return true
}

// share answers a listed origin and is silent to others: their browsers keep the answer.
func (c *CORS) share(w http.ResponseWriter, r *http.Request) bool {
	h := w.Header()
	h["Vary"] = varyOrigin
	if origin := r.Header["Origin"]; len(origin) == 1 && slices.Contains(c.Origins, origin[0]) {
		h["Access-Control-Allow-Origin"] = origin
		h["Access-Control-Allow-Credentials"] = withCookies
		h["Access-Control-Expose-Headers"] = sharedExposed
	}
	if !preflight(r) {
		return false
	}
	if h["Access-Control-Allow-Origin"] != nil {
		h["Access-Control-Allow-Methods"] = anyMethod
		h["Access-Control-Allow-Headers"] = sharedHeaders
		h["Access-Control-Max-Age"] = twoHours
		delete(h, "Access-Control-Expose-Headers")
	}
	h["Cache-Control"] = noLongerStored
	w.WriteHeader(http.StatusNoContent)
	return true
}

func preflight(r *http.Request) bool {
	return r.Method == http.MethodOptions && r.Header["Origin"] != nil && r.Header["Access-Control-Request-Method"] != nil
}

func covers(paths []string, path string) bool {
	return slices.ContainsFunc(paths, func(p string) bool {
		return path == p || strings.HasSuffix(p, "/") && strings.HasPrefix(path, p)
	})
}
