package web

import (
	"crypto/subtle"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/handle"
)

// BrowserCookie tells apart the browsers that nobody has signed in with yet: what one has
// begun, only that one finishes. It opens nothing.
const BrowserCookie = "keystile_browser"

const browserLife = storage.MaxTicketLife

// BrowserOf returns the id of the browser that a request comes from, "" if it has none. Two
// such cookies are as good as none: a neighbouring site may have put one.
func BrowserOf(r *http.Request) string {
	if value := BrowserSecret(r); value != "" {
		return handle.Hash(value)
	}
	return ""
}

// BrowserSecret returns the value of the cookie itself, which the store never has.
func BrowserSecret(r *http.Request) string {
	cookies := r.CookiesNamed(BrowserCookie)
	if len(cookies) != 1 || !IsCookie(cookies[0].Value) {
		return ""
	}
	return cookies[0].Value
}

// Bind gives the browser an id, a new one each time: a value that somebody has planted
// must not become the one that something is begun with.
func (p *Pages) Bind(w http.ResponseWriter) string { return handle.Hash(p.BindSecret(w)) }

// BindSecret is Bind for who needs the value itself.
func (p *Pages) BindSecret(w http.ResponseWriter) string {
	value := handle.NewCookie()
	http.SetCookie(w, &http.Cookie{
		Name: BrowserCookie, Value: value, Path: FormPath, MaxAge: int(browserLife / time.Second),
		HttpOnly: true, Secure: p.secure, SameSite: http.SameSiteLaxMode,
	})
	return value
}

const maxAgent = 256 // bytes

// AgentOf returns what a browser calls itself, as far as it can be shown.
func AgentOf(r *http.Request) string {
	agent := strings.ToValidUTF8(r.UserAgent(), "")
	return strings.ToValidUTF8(agent[:min(len(agent), maxAgent)], "")
}

// SeeOther answers a form: 303, never kept.
func SeeOther(w http.ResponseWriter, to string) error {
	w.Header().Set("Location", to)
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(http.StatusSeeOther)
	return nil
}

// SameBrowser reports whether two ids of browsers are one, in constant time.
func SameBrowser(a, b string) bool {
	return b != "" && subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1
}

// InSeconds returns a wait as Retry-After has it.
func InSeconds(wait time.Duration) string { return strconv.Itoa(int(math.Ceil(wait.Seconds()))) }

// CookieLen is the length of handle.NewCookie.
const CookieLen = 43

// IsCookie reports whether this could be a value of handle.NewCookie.
func IsCookie(value string) bool {
	const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
	return len(value) == CookieLen && strings.Trim(value, letters) == ""
}
