package main

import (
	"cmp"
	"context"
	"errors"
	"html/template"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/counters"
)

// signInPage is the service's own sign-in page with its own sessions. Without a page of
// your own you need none of this file: keystile.New makes both.
type signInPage struct {
	users   *userTable
	lockout counters.Addresses // against guessing
	secure  bool               // the cookie goes over https only

	mu       sync.Mutex
	sessions map[string]storage.Session // by SessionID(cookie)
}

const cookieName = "staff_session"

func newSignInPage(p *userTable, origin string) *signInPage {
	return &signInPage{
		users: p, lockout: counters.NewAddresses(counters.Lock{}), secure: strings.HasPrefix(origin, "https:"),
		sessions: map[string]storage.Session{},
	}
}

// Visitor implements oauth.SignIn. Return ErrNotFound only if nobody is signed in; if the
// session store fails, return any other error, or the user signs in in vain.
func (d *signInPage) Visitor(r *http.Request) (storage.Session, error) {
	cookie, err := r.Cookie(cookieName)
	if err != nil {
		return storage.Session{}, storage.ErrNotFound
	}
	d.mu.Lock()
	v, there := d.sessions[storage.HashCookie(cookie.Value)]
	d.mu.Unlock()
	if !there || !v.Live(time.Now()) {
		return storage.Session{}, storage.ErrNotFound
	}
	if u, err := d.users.User(r.Context(), v.UserID); err != nil || u.Disabled {
		return storage.Session{}, cmp.Or(err, storage.ErrNotFound)
	}
	return v, nil
}

// Proved implements oauth.SignIn: this page knows no second factors.
func (d *signInPage) Proved(context.Context, storage.Session) (bool, error) { return true, nil }

var page = template.Must(template.New("page").Parse(`<!doctype html><title>Staff entrance</title>
<h1>Staff entrance</h1>{{with .App}}<p>You are on your way to {{.}}.</p>{{end}}{{with .Problem}}<p role="alert">{{.}}</p>{{end}}
<form method="post" action="/entrance"><input type="hidden" name="on" value="{{.On}}">
<p><input name="username" placeholder="username" required autofocus> <input name="password" type="password" required>
<button>Come in</button></form>
`))

type view struct{ App, Problem, On string }

// Ask implements oauth.SignIn. The authorize request may have come as a form, and travels
// through the page.
func (d *signInPage) Ask(w http.ResponseWriter, r *http.Request, app storage.App) error {
	query := r.URL.Query()
	if r.Method == http.MethodPost {
		query = r.PostForm
	}
	return show(w, http.StatusOK, view{App: app.Name, On: query.Encode()})
}

func show(w http.ResponseWriter, status int, v view) error {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Security-Policy", "frame-ancestors 'none'") // nobody draws a page over this one
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	return page.Execute(w, v)
}

// enter answers the form. It must stand behind http.CrossOriginProtection: another site
// could sign a browser in as someone else.
func (d *signInPage) enter(w http.ResponseWriter, r *http.Request) {
	on := r.PostFormValue("on")
	peer, _ := netip.ParseAddrPort(r.RemoteAddr) // behind a proxy: the address it vouches for
	if d.lockout.Begin(r.Context(), peer.Addr()) > 0 {
		show(w, http.StatusTooManyRequests, view{Problem: "Too many attempts. Come back later.", On: on})
		return
	}
	u, err := d.users.Authenticate(r.Context(), r.PostFormValue("username"), r.PostFormValue("password"))
	d.lockout.End(r.Context(), peer.Addr(), errors.Is(err, storage.ErrNotFound))
	switch {
	case errors.Is(err, storage.ErrNotFound) || err == nil && u.Disabled:
		show(w, http.StatusUnauthorized, view{Problem: "That is not right.", On: on})
		return
	case err != nil:
		http.Error(w, "try again later", http.StatusServiceUnavailable)
		return
	}
	d.end(r)
	d.begin(w, u)
	http.Redirect(w, r, onward(on), http.StatusSeeOther)
}

// begin draws a new cookie: one the browser brought along may be someone else's doing.
func (d *signInPage) begin(w http.ResponseWriter, u storage.User) {
	cookie, now := storage.NewCookie(), time.Now().UTC()
	ends := now.Add(12 * time.Hour)
	d.mu.Lock()
	defer d.mu.Unlock()
	d.sessions[storage.HashCookie(cookie)] = storage.Session{UserID: u.Sub, LoginType: storage.LoginSelf, AuthTime: now,
		ExpiresAt: ends, EndsAt: ends}
	http.SetCookie(w, d.cookie(cookie, 0))
}

// onward leads to authorize on our own origin, whatever the form holds: the sender can change the
// field. The prompt that has just been answered is taken out, or prompt=login would ask for ever.
func onward(on string) string {
	query, err := url.ParseQuery(on)
	if err != nil || on == "" {
		return "/"
	}
	query.Del("prompt")
	if query.Get("max_age") == "0" {
		query.Del("max_age")
	}
	return "/oauth/authorize?" + query.Encode()
}

// SignOut implements oauth.SignIn.
func (d *signInPage) SignOut(w http.ResponseWriter, r *http.Request) error {
	d.end(r)
	http.SetCookie(w, d.cookie("", -1))
	return nil
}

func (d *signInPage) end(r *http.Request) {
	if cookie, err := r.Cookie(cookieName); err == nil {
		d.mu.Lock()
		defer d.mu.Unlock()
		delete(d.sessions, storage.HashCookie(cookie.Value))
	}
}

func (d *signInPage) cookie(value string, maxAge int) *http.Cookie {
	return &http.Cookie{Name: cookieName, Value: value, MaxAge: maxAge, Path: "/", HttpOnly: true, Secure: d.secure,
		SameSite: http.SameSiteLaxMode}
}
