package main

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"html/template"
	"net/http"
	"net/url"

	"github.com/keystile/keystile/oauth/signin/connector"
)

// A badge holds 128 random bits as text. Its reader is a keyboard to the computer: it types
// that text and presses Enter. So many bits are not guessed at, and need no lock; for a PIN
// it would take counters.Addresses, as examples/embed has one.
//
// Like any provider it is a visit: the browser goes to a page (Begin), and comes back with
// something that proves who it was (Finish). Keystile draws the state, ties it to the
// browser, and uses it up. A provider elsewhere is asked in Finish, over the network.

// badges is the method. It keeps nothing between Begin and Finish.
type badges struct {
	staff *staff
	key   []byte // of the codes; where several processes serve, one for all
}

func newBadges(s *staff) *badges {
	b := &badges{staff: s, key: make([]byte, 32)}
	rand.Read(b.key)
	return b
}

const (
	badgePath   = "/badge"
	badgeReturn = "/oauth/signin/with/badge/return" // /oauth/signin/with/, the Name, /return
)

// Name implements connector.Connector. It is the method of Connect and Logins.
func (*badges) Name() string { return "badge" }

// Label implements connector.Connector.
func (*badges) Label() string { return "Company badge" }

// Begin implements connector.Connector.
func (*badges) Begin(_ context.Context, v connector.Visit) (string, error) {
	return badgePath + "?" + url.Values{"state": {v.State}}.Encode(), nil
}

// Finish implements connector.Connector. Anybody can type an address, so nothing in it
// counts but what the page has sealed for this very state.
func (b *badges) Finish(_ context.Context, _ string, query url.Values) (connector.Profile, error) {
	number, state := query.Get("number"), query.Get("state")
	switch {
	case number == "":
		return connector.Profile{}, connector.ErrDenied // went back without a badge
	case !hmac.Equal([]byte(query.Get("code")), []byte(b.seal(state, number))):
		return connector.Profile{}, connector.ErrCode
	}
	return connector.Profile{Subjects: []string{number}}, nil
}

func (b *badges) seal(state, number string) string {
	mac := hmac.New(sha256.New, b.key)
	mac.Write([]byte(url.Values{"state": {state}, "number": {number}}.Encode()))
	return hex.EncodeToString(mac.Sum(nil))
}

// numberOf returns the table's key of a badge: enough to recognise it, too little to copy it.
func numberOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:16])
}

// issue makes a badge and puts it into the drawer.
func (b *badges) issue() string {
	text := rand.Text()
	b.staff.mu.Lock()
	defer b.staff.mu.Unlock()
	b.staff.ways[way{b.Name(), numberOf(text)}] = unassigned
	return text
}

func (b *badges) issued(number string) bool {
	b.staff.mu.RLock()
	defer b.staff.mu.RUnlock()
	_, there := b.staff.ways[way{b.Name(), number}]
	return there
}

var desk = template.Must(template.New("desk").Parse(`<!doctype html><html lang="en"><title>Company badge</title>
<h1>Hold your badge to the reader</h1>{{if .Unknown}}<p role="alert">This is no badge of ours.</p>{{end}}
<form method="post" action="/badge"><input type="hidden" name="state" value="{{.State}}">
<label>Badge <input name="badge" type="password" autocomplete="off" required autofocus></label> <button>Go on</button></form>
<p><a href="{{.Back}}">I have no badge here</a></p>
`))

// serve is the page of the method; newHost puts it behind http.CrossOriginProtection. It
// leads back to where Keystile waits, whatever the form holds.
func (b *badges) serve(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, 4<<10)
	state, status := r.FormValue("state"), http.StatusOK
	if r.Method == http.MethodPost {
		number := numberOf(r.PostFormValue("badge"))
		if b.issued(number) {
			http.Redirect(w, r, back(state, "number", number, "code", b.seal(state, number)), http.StatusSeeOther)
			return
		}
		status = http.StatusUnauthorized
	}
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	// Without form-action: browsers hold against it where the sign-in leads in the end, too.
	h.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'; base-uri 'none'")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	desk.Execute(w, map[string]any{"State": state, "Back": back(state), "Unknown": status != http.StatusOK})
}

func back(state string, more ...string) string {
	query := url.Values{"state": {state}}
	for i := 0; i < len(more); i += 2 {
		query.Set(more[i], more[i+1])
	}
	return badgeReturn + "?" + query.Encode()
}
