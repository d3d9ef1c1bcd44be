package dpop

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"github.com/keystile/keystile/internal/token"
	"github.com/keystile/keystile/storage"
)

// Verifier verifies access tokens, such as *oauth.Tokens.
type Verifier interface {
	Verify(ctx context.Context, bearer string, audiences ...string) (storage.Caller, error)
}

// Credentials holds what a request brings to show who calls.
type Credentials struct {
	Token string
	sent  *sent // with the scheme DPoP; nil: with Bearer
}

// sent is a proof as it was sent, and the request that it was sent with.
type sent struct {
	proofs       []string
	method, path string
	address      string      // of the request, where it is not at one of our origins; "": by path
	answer       http.Header // for the next nonce
	proven       string      // the key that a good proof was by
}

type sentKey struct{}

var (
	sentAsBearer = &Refusal{Name: InvalidToken, bearer: true,
		Reason: "the access token is bound to a key: send Authorization: DPoP <access_token> with a proof in the header DPoP"}
	notBound = &Refusal{Name: InvalidToken,
		Reason: "the access token is bound to no key: send Authorization: Bearer <access_token>"}
)

// Read returns the credentials in the Authorization header of a request (RFC 6750 2.1, RFC 9449 7.1), whatever their
// scheme. The errors are those of token.Bearer. A nonce for the next request is written into the header of its answer.
func Read(answer http.Header, r *http.Request) (c Credentials, err error) {
	h := r.Header["Authorization"]
	if len(h) != 1 || len(h[0]) < 5 || h[0][4] != ' ' || !strings.EqualFold(h[0][:4], "DPoP") {
		c.Token, err = token.Bearer(r)
		return c, err
	}
	if c.Token, err = token.OfScheme(r, "DPoP"); err != nil {
		return c, err
	}
	c.sent = &sent{proofs: r.Header[HeaderProof], method: r.Method, path: pathOf(r), answer: answer}
	return c, nil
}

// Proves reports whether the credentials have a proof, or ought to.
func (c Credentials) Proves() bool { return c.sent != nil }

// For returns the credentials of a request that another one asks about, such as that of a proxy.
func (c Credentials) For(method, address string) Credentials {
	if c.sent != nil {
		s := *c.sent
		s.method, s.address = method, address
		c.sent = &s
	}
	return c
}

// Verify returns the caller that the credentials identify. The token must be meant for one of the audiences; without
// any, for the service itself. A token that is bound to a key is good with the scheme DPoP and a proof alone, any other
// one with Bearer alone.
func (c Credentials) Verify(ctx context.Context, v Verifier, audiences ...string) (storage.Caller, error) {
	if c.sent != nil {
		ctx = context.WithValue(ctx, sentKey{}, c.sent)
	}
	caller, err := v.Verify(ctx, c.Token, audiences...)
	switch {
	case err != nil:
		return caller, err
	case c.sent == nil && caller.KeyThumbprint != "":
		return storage.Caller{}, sentAsBearer
	case c.sent != nil && (caller.KeyThumbprint == "" || c.sent.proven != caller.KeyThumbprint):
		return storage.Caller{}, notBound
	}
	return caller, nil
}

// Proven returns a context in which a token that is bound to a key is good without another proof: that of a request
// which goes on, and whose token is looked at once more.
func Proven(ctx context.Context, thumbprint string) context.Context {
	if thumbprint == "" {
		return ctx
	}
	return context.WithValue(ctx, sentKey{}, &sent{proven: thumbprint})
}

// isAt reports whether an address is that of the request, at one of these origins.
func (s *sent) isAt(address string, origins ...string) bool {
	if s.address != "" {
		return sameAddress(address, s.address)
	}
	return slices.ContainsFunc(origins, func(origin string) bool {
		return origin != "" && sameAddress(address, origin+s.path)
	})
}
