package web

import (
	"net/http"
	"slices"
	"time"

	"github.com/keystile/keystile/internal/cookies"
)

// wayCookie names the way in which a person last signed in with this browser. It only puts that way first
// on the page: whoever changes it changes the order of the links, and nothing else.
const (
	wayCookie = cookies.Way
	wayLife   = 365 * 24 * time.Hour
	wayPath   = "/oauth"
)

// RememberWay remembers that a person has signed in by a method: one of the links, or any other, after which
// no link comes first.
func (p *Pages) RememberWay(w http.ResponseWriter, r *http.Request, method string) {
	c := &http.Cookie{
		Name: wayCookie, Value: method, Path: wayPath, MaxAge: int(wayLife / time.Second),
		HttpOnly: true, Secure: p.secure, SameSite: http.SameSiteLaxMode,
	}
	if !slices.ContainsFunc(p.SignInLinks, func(w Link) bool { return w.Method == method }) {
		if len(r.CookiesNamed(wayCookie)) == 0 {
			return
		}
		c.Value, c.MaxAge = "", -1
	}
	http.SetCookie(w, c)
}

// lastFirst puts the way of the cookie first. A value that is no way on the page, and two cookies, mean nothing.
func lastFirst(links []Link, r *http.Request) {
	sent := r.CookiesNamed(wayCookie)
	if len(sent) != 1 || sent[0].Value == "" {
		return
	}
	at := slices.IndexFunc(links, func(w Link) bool { return w.Method == sent[0].Value })
	if at > 0 {
		last := links[at]
		copy(links[1:at+1], links[:at])
		links[0] = last
	}
}
