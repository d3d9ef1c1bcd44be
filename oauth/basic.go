package oauth

import (
	"encoding/base64"
	"net/http"
	"net/url"
	"strings"

	"github.com/keystile/keystile/internal/reply"
)

const basicChallenge = `Basic realm="client_id and client_secret"`

// readBasic puts the client_id and client_secret of an Authorization header (RFC 6749 2.3.1) into a form, as if they
// stood there. Many libraries send nothing else unless they are told to, and many others both: a client_id in the form
// too is fine if it is the same one.
func readBasic(r *http.Request, form url.Values) error {
	sent := r.Header["Authorization"]
	if len(sent) == 0 {
		return nil
	}
	if len(sent) > 1 {
		return badBasic
	}
	scheme, text, _ := strings.Cut(sent[0], " ")
	pair, err := base64.StdEncoding.DecodeString(strings.TrimLeft(text, " "))
	id, secret, ok := cutPair(string(pair))
	if !strings.EqualFold(scheme, "Basic") || err != nil || !ok {
		return badBasic
	}
	named := form.Get("client_id")
	if form.Has("client_secret") || form.Has("client_assertion") || named != "" && named != id {
		return twoWays
	}
	form.Set("client_id", id)
	if secret != "" { // a public application has none
		form.Set("client_secret", secret)
	}
	return nil
}

// cutPair reads a client_id and a client_secret, which are form-encoded (RFC 6749 2.3.1). Some libraries do not encode
// them: what cannot be decoded is taken as it is, and a client_id that is the URL of a document has a colon of its own.
// Okta's client leaves out the colon where there is no secret.
func cutPair(pair string) (id, secret string, ok bool) {
	at := strings.IndexByte(pair, ':')
	address := strings.HasPrefix(pair, "https://") || strings.HasPrefix(pair, "http://")
	if address {
		at = strings.LastIndexByte(pair, ':')
	}
	if at < 0 || address && strings.HasPrefix(pair[at:], "://") {
		at, pair = len(pair), pair+":"
	}
	id, secret = decoded(pair[:at]), decoded(pair[at+1:])
	return id, secret, id != "" && keepable(id) && keepable(secret)
}

func decoded(text string) string {
	if plain, err := url.QueryUnescape(text); err == nil {
		return plain
	}
	return text
}

// challenge adds to a refusal of an application that came by Basic how it may authenticate (RFC 6749 5.2).
func challenge(r *http.Request, err error) error {
	f := reply.FailureOf(err)
	if f.Status != http.StatusUnauthorized || r.Header["Authorization"] == nil {
		return err
	}
	return f.With("Www-Authenticate", basicChallenge)
}
