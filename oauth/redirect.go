package oauth

import (
	"net/http"

	"github.com/keystile/keystile/internal/reply"
)

// redirect sends the browser back to the application (protocol 4.1). iss names the issuer (RFC 9207).
func (s *Server) redirect(w http.ResponseWriter, redirectURI string, params ...string) error {
	return reply.Found(w, reply.WithQuery(redirectURI, append(params, "iss", s.issuer)...))
}
