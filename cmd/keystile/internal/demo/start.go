package demo

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"net/http"
	"net/url"
	"strings"

	"github.com/keystile/keystile/internal/cookies"
)

// start sends the browser to the provider. The values that the answer must match stay in a cookie
// that only the callback receives.
func (d *Demo) start(w http.ResponseWriter, r *http.Request) error {
	app, err := d.app(r.Context())
	if err != nil {
		return err
	}
	t := trip{state: rand.Text(), nonce: rand.Text(), verifier: rand.Text() + rand.Text()}
	http.SetCookie(w, d.cookie(cookieName, t.String(), 600))
	challenge := sha256.Sum256([]byte(t.verifier))
	query := url.Values{
		"response_type":         {"code"},
		"client_id":             {app.ID},
		"redirect_uri":          {RedirectURI(d.base)},
		"scope":                 {"openid profile email"},
		"state":                 {t.state},
		"nonce":                 {t.nonce},
		"code_challenge":        {base64.RawURLEncoding.EncodeToString(challenge[:])},
		"code_challenge_method": {"S256"},
	}
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("Location", d.base+"/oauth/authorize?"+query.Encode())
	w.WriteHeader(http.StatusFound)
	return nil
}

// trip is one sign-in on its way: what we drew for it.
type trip struct{ state, nonce, verifier string }

func (t trip) String() string { return t.state + "." + t.nonce + "." + t.verifier }

// matches compares the state in constant time. No state matches none.
func (t trip) matches(state string) bool {
	return t.state != "" && subtle.ConstantTimeCompare([]byte(t.state), []byte(state)) == 1
}

const cookieName = cookies.Demo

func (d *Demo) cookie(name, value string, seconds int) *http.Cookie {
	return &http.Cookie{
		Name: name, Value: value, MaxAge: seconds,
		Path: Path, HttpOnly: true, Secure: strings.HasPrefix(d.base, "https:"), SameSite: http.SameSiteLaxMode,
	}
}

// tripOf reads the cookie; without one, or with a strange one, the trip is empty.
func tripOf(r *http.Request) trip {
	c, err := r.Cookie(cookieName)
	if err != nil {
		return trip{}
	}
	parts := strings.Split(c.Value, ".")
	if len(parts) != 3 {
		return trip{}
	}
	return trip{parts[0], parts[1], parts[2]}
}
