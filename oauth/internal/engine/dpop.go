package engine

import (
	"net/url"

	"github.com/keystile/keystile/internal/token"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/driver"
)

// boundTo returns the key that an authorize request binds its code to (RFC 9449 10).
func boundTo(app storage.App, form url.Values) (string, error) {
	key := form.Get("dpop_jkt")
	switch {
	case app.KeyBinding() == storage.DPoPOff:
		return "", nil
	case form.Has("dpop_jkt") && !token.IsThumbprint(key):
		return "", refuse(InvalidRequest, "dpop_jkt is not the SHA-256 thumbprint of a key (RFC 7638), in base64url")
	}
	return key, nil
}

// checkKey refuses a code or refresh token that is bound to another key than the request has proved. It comes before
// the token's reuse is judged: a request without the key ends nothing, or strangers could sign users out.
func checkKey(w *work, t driver.Token) (*Refusal, error) {
	switch key, err := KeyOf(t); {
	case err != nil:
		return nil, err
	case key == "" || key == w.key:
		return nil, nil
	case w.key == "":
		return refuse(InvalidGrant, "this grant is bound to a key: send a proof by it in the header DPoP"), nil
	}
	return refuse(InvalidGrant, "this grant is bound to another key than that of the DPoP proof"), nil
}

// nextLuggage returns the luggage of the refresh token that is made next. That of a public client is bound to the key
// that its request has proved (RFC 9449 5): nothing else proves who sends it. Another application proves itself by its
// secret, and may take a new key.
func (w *work) nextLuggage() (string, error) {
	l, err := luggageOf(w.found.SignIn)
	if l.Key = ""; w.app.Public {
		l.Key = w.key
	}
	return l.text(), err
}
