package signin

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

// browserCookie tells apart the browsers that nobody has signed in with yet: what one has
// begun, only that one finishes. It opens nothing.
const browserCookie = "keystile_browser"

const browserLife = storage.MaxTicketLife

// browserOf returns the id of the browser that a request comes from, "" if it has none. Two
// such cookies are as good as none: a neighbouring site may have put one.
func browserOf(r *http.Request) string {
	if value := browserSecret(r); value != "" {
		return handle.Hash(value)
	}
	return ""
}

// browserSecret is the value of the cookie itself, which the store never has.
func browserSecret(r *http.Request) string {
	cookies := r.CookiesNamed(browserCookie)
	if len(cookies) != 1 || !isCookie(cookies[0].Value) {
		return ""
	}
	return cookies[0].Value
}

// bind gives the browser an id, a new one each time: a value that somebody has planted
// must not become the one that something is begun with.
func (p *pages) bind(w http.ResponseWriter) string { return handle.Hash(p.bindTo(w)) }

// bindTo is bind for who needs the value itself.
func (p *pages) bindTo(w http.ResponseWriter) string {
	value := handle.NewCookie()
	http.SetCookie(w, &http.Cookie{
		Name: browserCookie, Value: value, Path: formPath, MaxAge: int(browserLife / time.Second),
		HttpOnly: true, Secure: p.secure, SameSite: http.SameSiteLaxMode,
	})
	return value
}

const maxAgent = 256 // bytes

// agentOf is what a browser calls itself, as far as it can be shown.
func agentOf(r *http.Request) string {
	agent := strings.ToValidUTF8(r.UserAgent(), "")
	return strings.ToValidUTF8(agent[:min(len(agent), maxAgent)], "")
}

// seeOther answers a form: 303, never kept.
func seeOther(w http.ResponseWriter, to string) error {
	w.Header().Set("Location", to)
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(http.StatusSeeOther)
	return nil
}

// sameBrowser reports whether two ids of browsers are one, in constant time.
func sameBrowser(a, b string) bool {
	return b != "" && subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1
}

// inSeconds is a wait as Retry-After has it.
func inSeconds(wait time.Duration) string { return strconv.Itoa(int(math.Ceil(wait.Seconds()))) }
