package restcall

import (
	"encoding/base64"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/keystile/keystile/internal/netguard"
	"github.com/keystile/keystile/storage"
)

// Upstream is where the requests of a capability go, and with which credential.
type Upstream struct {
	BaseURL  string         // http or https; a path and a query stand before those of the tool
	AuthType string         // none or "", bearer, basic, api_key
	AuthIn   string         // of api_key: header or query
	AuthName string         // of api_key: the header's or the parameter's name
	Secret   storage.Secret // the token, user:password, or the key
}

// Check reports everything that keeps requests from being sent, for registration. It
// repeats neither the URL nor the secret.
func (u Upstream) Check() error {
	_, err := netguard.CheckURL(u.BaseURL)
	_, _, authErr := u.credential()
	return errors.Join(err, authErr)
}

// credential returns the header that carries the secret, if it is one. It is the value of
// AuthName in the query if name is "" and AuthType is api_key.
func (u Upstream) credential() (name, text string, err error) {
	secret := u.Secret.Reveal()
	switch u.AuthType {
	case "", "none":
		return "", "", nil
	case "bearer":
		name, text = "Authorization", "Bearer "+secret
	case "basic":
		if !strings.Contains(secret, ":") {
			err = errors.New("auth_secret must be user:password for auth_type basic")
		}
		name, text = "Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte(secret))
	case "api_key":
		name, text, err = u.apiKey(secret)
	default:
		err = errors.New("auth_type must be none, bearer, basic or api_key")
	}
	switch {
	case err != nil:
		return "", "", err
	case secret == "":
		return "", "", errors.New("auth_secret must not be empty unless auth_type is none")
	case name != "" && !headerValue(text):
		return "", "", errors.New("auth_secret must have no control characters")
	}
	return name, text, nil
}

func (u Upstream) apiKey(secret string) (name, text string, err error) {
	switch {
	case u.AuthIn == "query" && u.AuthName != "":
		return "", secret, nil
	case u.AuthIn != "header":
		return "", "", errors.New("auth_in must be header or query, and auth_name must be given, for auth_type api_key")
	case !headerName(u.AuthName) || Reserved(u.AuthName) && !carriesKeys(u.AuthName):
		return "", "", errors.New("auth_name must be the name of a header that may carry a key, such as X-API-Key")
	}
	return http.CanonicalHeaderKey(u.AuthName), secret, nil
}

func carriesKeys(header string) bool {
	return strings.EqualFold(header, "Authorization") || strings.EqualFold(header, "Cookie")
}

// queryKey returns the parameter that carries the secret, "" if none does.
func (u Upstream) queryKey() string {
	if u.AuthType == "api_key" && u.AuthIn == "query" {
		return u.AuthName
	}
	return ""
}

// minHidden is the length from which a secret is looked for in answers. A shorter one
// would be found by chance, and would then show by what is missing.
const minHidden = 8

// spellings returns how the secret may come back in an answer that echoes the request.
func (u Upstream) spellings(header string) (out []string) {
	secret := u.Secret.Reveal()
	form := url.QueryEscape(secret)
	_, sent, _ := strings.Cut(header, " ")
	texts := []string{secret, form, strings.ReplaceAll(form, "+", "%20"), sent}
	if u.AuthType == "basic" {
		_, password, _ := strings.Cut(secret, ":")
		texts = append(texts, password)
	}
	for _, text := range texts {
		if len(text) >= minHidden && !slices.Contains(out, text) {
			out = append(out, text)
		}
	}
	return out
}
