package oauth

import (
	"net/http"

	"github.com/keystile/keystile/internal/reply"
)

// redirect sends the browser back to the application (protocol 4.1).
func (k *core) redirect(w http.ResponseWriter, redirectURI string, params ...string) error {
	return reply.Found(w, k.answerAt(redirectURI, params...))
}

// answerAt returns the address of an answer to an application. iss names the issuer (RFC 9207).
func (k *core) answerAt(redirectURI string, params ...string) string {
	return reply.WithQuery(redirectURI, append(params, "iss", k.issuer)...)
}
