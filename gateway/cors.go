package gateway

// CORS lists which pages of other origins may read which answers. A path that ends in a
// slash covers everything below it.
type CORS struct {
	// Open paths answer every origin, without credentials: a bearer token is sent by code
	// that has it, never by the browser itself. nil: those of the endpoints that nobody reaches by
	// cookie, such as /oauth/token and /api/v1/.
	Open     []string
	AlsoOpen []string // beside Open
	// Shared paths answer the Origins, with credentials: they know their visitor by cookie.
	Shared  []string
	Origins []string // such as https://console.example.com, as browsers write them
}

// openPaths are the paths of the endpoints that are never used with a cookie.
var openPaths = []string{
	"/oauth/token", "/oauth/token.php", "/oauth/revoke", "/oauth/revoke.php",
	"/oauth/userinfo", "/oauth/userinfo.php", "/oauth/jwks", "/oauth/jwks.php",
	"/oauth/register", "/oauth/register.php", "/oauth/register/", "/register", "/oauth/device_authorization",
	"/oauth/device_authorization.php",
	"/.well-known/", "/api/v1/", "/api/mcp", "/api/mcp/", "/openapi.json",
}
