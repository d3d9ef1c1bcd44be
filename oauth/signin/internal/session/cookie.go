package session

import (
	"net/http"
	"time"

	"github.com/keystile/keystile/internal/cookies"
	"github.com/keystile/keystile/oauth/signin/internal/web"
)

// CookieName is the name in protocol 4.8, which rules out a __Host- prefix. The guarantees of the
// prefix are kept by hand: no Domain, Path=/, Secure on https; and a request with two such cookies
// has none, because a neighbouring site may have set one.
const CookieName = cookies.Session

// CookiesOf returns the session cookies of a request that could be ours.
func CookiesOf(r *http.Request) []string {
	var values []string
	for _, c := range r.CookiesNamed(CookieName) {
		values = append(values, c.Value)
	}
	if len(values) == 1 && !web.IsCookie(values[0]) {
		return nil
	}
	return values
}

func (s *Sessions) setCookie(w http.ResponseWriter, value string, ends time.Time) {
	c := s.cookie(value)
	c.Expires, c.MaxAge = ends, int(time.Until(ends).Round(time.Second)/time.Second)
	http.SetCookie(w, c)
}

// ClearCookie removes the session cookie from the browser.
func (s *Sessions) ClearCookie(w http.ResponseWriter) {
	c := s.cookie("")
	c.Expires, c.MaxAge = time.Unix(1, 0), -1
	http.SetCookie(w, c)
}

func (s *Sessions) cookie(value string) *http.Cookie {
	return &http.Cookie{
		Name: CookieName, Value: value, Path: "/",
		HttpOnly: true, Secure: s.Secure, SameSite: http.SameSiteLaxMode,
	}
}
