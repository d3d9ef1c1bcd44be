package oauth

import (
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/keystile/keystile/internal/reply"
	"github.com/keystile/keystile/storage"
)

// A form that another site sends here (OpenID Connect Core 3.1.2.1, RP-Initiated Logout 1.0, 2) comes without the
// cookie of the session, which is SameSite=Lax. The browser is sent on to the same by GET, and comes there with its
// cookie.

// maxMoved bounds the parameters that move from a form into an address, in bytes: as many as the sign-in page carries.
const maxMoved = 16 << 10

// byGet sends on an authorize request that came as a form, if nobody seems to be signed in. One that is too long for an
// address is answered as it is.
//
// The query of a form request is not read. A form of another site comes without the cookie, so a visitor who is
// signed in would look signed out; the same goes for a form of another site at /oauth/logout, which would end
// nothing.
func (a *authorizer) byGet(w http.ResponseWriter, r *http.Request, text string) (moved bool, err error) {
	if r.Method != http.MethodPost || text == "" || len(escaped(text)) > maxMoved {
		return false, nil
	}
	switch _, err := a.c.SignIn.Visitor(r); {
	case errors.Is(err, storage.ErrNotFound):
		return true, moveToGet(w, r, text)
	case err != nil:
		return false, err
	}
	return false, nil
}

// moveToGet answers a form with a redirect to the same by GET: its parameters, as they were sent.
func moveToGet(w http.ResponseWriter, r *http.Request, text string) error {
	to := r.URL.Path
	if text = escaped(text); len(text) > maxMoved {
		return tooLongToMove
	}
	if text != "" {
		to += "?" + text
	}
	return reply.SeeOther(w, to)
}

// escaped makes a form fit for an address without changing its meaning.
func escaped(text string) string {
	var out strings.Builder
	for _, c := range []byte(text) {
		if c <= ' ' || c > '~' || c == '#' {
			fmt.Fprintf(&out, "%%%02X", c)
			continue
		}
		out.WriteByte(c)
	}
	return out.String()
}
