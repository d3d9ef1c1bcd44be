package restcall

import (
	"encoding/base64"
	"errors"
	"net/http"
	"strings"

	"github.com/keystile/keystile/internal/headername"
)

// Credential holds how the secret of an Upstream is sent, and finds it in answers. The zero
// value sends nothing.
type Credential struct {
	Header string // the header that carries it, if one does
	Query  string // the parameter that carries it, if one does
	Text   string // the value of either
	more   []sentHeader
	hide   []needle // what no answer may have
	once   string   // of one call, see Hiding
}

// String says little: the text is the secret.
func (Credential) String() string { return "a credential of an upstream" }

// Credential reports an error, without the secret, if no request can carry it.
func (u Upstream) Credential() (c Credential, err error) {
	if c, err = u.proof(); err == nil {
		err = c.addHeaders(u.Headers)
	}
	if err != nil {
		return Credential{}, err
	}
	return c, nil
}

// proof is the Credential without the headers beside it.
func (u Upstream) proof() (c Credential, err error) {
	secret := u.Secret.Reveal()
	switch u.AuthType {
	case "", "none":
		return Credential{}, nil
	case "bearer":
		c.Header, c.Text = "Authorization", "Bearer "+secret
	case "basic":
		if !strings.Contains(secret, ":") {
			err = errors.New("auth_secret must be user:password for auth_type basic")
		}
		c.Header, c.Text = "Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte(secret))
	case "api_key":
		c, err = u.apiKey(secret)
	default:
		err = errors.New("auth_type must be none, bearer, basic or api_key")
	}
	switch {
	case err != nil:
		return Credential{}, err
	case secret == "":
		return Credential{}, errors.New("auth_secret must not be empty unless auth_type is none")
	case c.Header != "" && !headerValue(c.Text):
		return Credential{}, errors.New("auth_secret must have no control characters")
	}
	c.hide = needles(hidden(secret, c.Text, u.AuthType == "basic"))
	return c, nil
}

func (u Upstream) apiKey(secret string) (Credential, error) {
	switch {
	case u.AuthIn == "query" && u.AuthName != "":
		return Credential{Query: u.AuthName, Text: secret}, nil
	case u.AuthIn != "header":
		return Credential{}, errors.New("auth_in must be header or query, and auth_name must be given, for auth_type api_key")
	case !headerName(u.AuthName) || decided(u.AuthName) && !carriesKeys(u.AuthName) || headername.Own(u.AuthName):
		return Credential{}, errors.New("auth_name must be the name of a header that may carry a key, such as X-API-Key")
	}
	return Credential{Header: http.CanonicalHeaderKey(u.AuthName), Text: secret}, nil
}

func carriesKeys(header string) bool {
	return strings.EqualFold(header, "Authorization") || strings.EqualFold(header, "Cookie")
}
