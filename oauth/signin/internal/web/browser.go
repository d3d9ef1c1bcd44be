package web

import (
	"crypto/subtle"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/keystile/keystile/internal/cookies"
	"github.com/keystile/keystile/internal/handle"
	"github.com/keystile/keystile/storage"
)

// BrowserCookie identifies a browser before the sign-in: a sign-in can be finished only in the
// browser that began it. It grants no access.
const BrowserCookie = cookies.Browser

const browserLife = storage.MaxTicketLife

// BrowserOf returns the id of the browser that a request comes from, "" if it has none. Two
// such cookies are as good as none: a neighbouring site may have put one.
func BrowserOf(r *http.Request) string {
	if value := BrowserSecret(r); value != "" {
		return handle.Hash(value)
	}
	return ""
}

// BrowserSecret returns the value of the cookie itself, which is never stored.
func BrowserSecret(r *http.Request) string {
	sent := r.CookiesNamed(BrowserCookie)
	if len(sent) != 1 || !IsCookie(sent[0].Value) {
		return ""
	}
	return sent[0].Value
}

// Bind gives the browser a new id and returns it: a sign-in must not begin with a value that
// a person has planted.
func (p *Pages) Bind(w http.ResponseWriter) string { return handle.Hash(p.BindSecret(w)) }

// BindSecret is Bind, and returns the value of the cookie.
func (p *Pages) BindSecret(w http.ResponseWriter) string {
	value := handle.NewCookie()
	http.SetCookie(w, &http.Cookie{
		Name: BrowserCookie, Value: value, Path: FormPath, MaxAge: int(browserLife / time.Second),
		HttpOnly: true, Secure: p.secure, SameSite: http.SameSiteLaxMode,
	})
	return value
}

const maxAgent = 256 // bytes

// AgentOf returns the User-Agent of a request, cut and valid UTF-8.
func AgentOf(r *http.Request) string {
	agent := strings.ToValidUTF8(r.UserAgent(), "")
	return strings.ToValidUTF8(agent[:min(len(agent), maxAgent)], "")
}

// SeeOther answers a form with 303, which is never cached.
func SeeOther(w http.ResponseWriter, to string) error {
	w.Header().Set("Location", to)
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(http.StatusSeeOther)
	return nil
}

// SameBrowser reports whether two browser ids are equal, in constant time.
func SameBrowser(a, b string) bool {
	return b != "" && subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1
}

// InSeconds returns a wait in the form of Retry-After.
func InSeconds(wait time.Duration) string { return strconv.Itoa(int(math.Ceil(wait.Seconds()))) }

// CookieLen is the length of handle.NewCookie.
const CookieLen = 43

// IsCookie reports whether this could be a value of handle.NewCookie.
func IsCookie(value string) bool {
	const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
	return len(value) == CookieLen && strings.Trim(value, letters) == ""
}
