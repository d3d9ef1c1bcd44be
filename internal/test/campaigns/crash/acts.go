package main

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"net/http"
	"net/url"
	"sync/atomic"
	"time"
)

// Kinds of writes, in the order of the report.
const (
	issueCode      = "code issued"
	exchangeCode   = "code exchanged"
	rotate         = "refresh token rotated"
	revokeAccess   = "access token revoked"
	revokeFamily   = "family revoked"
	createApp      = "application created"
	rotateSecret   = "secret rotated"
	createUser     = "user created"
	disableUser    = "user disabled"
	endByDisabling = "ended with its user"
	enableUser     = "user enabled"
	changeValue    = "setting changed"
	makeOrder      = "order made"
	approveOrder   = "order approved"
	rejectOrder    = "order rejected"
	cancelOrder    = "order canceled"
	setTier        = "tier set"
	signUp         = "signed up"
	signInAgain    = "signed in"
	changePassword = "password changed"
	endByPassword  = "ended by a password"
	signOut        = "signed out"
	signOutAll     = "signed out everywhere"
	giveConsent    = "consent given"
	takeBack       = "consent taken back"
	endByTakeBack  = "ended with a consent"
	register       = "capability registered"
	replace        = "capability replaced"
	remove         = "capability removed"
	mailCode       = "code mailed"
	useMailed      = "mailed code used"
)

var kinds = []string{
	issueCode, exchangeCode, rotate, revokeAccess, revokeFamily, createApp, rotateSecret, createUser, disableUser,
	endByDisabling, enableUser,
	changeValue, makeOrder, approveOrder, rejectOrder, cancelOrder, setTier, signUp, signInAgain, changePassword,
	endByPassword, signOut, signOutAll,
	giveConsent, takeBack, endByTakeBack, register, replace, remove, mailCode, useMailed,
}

// life is one life of the server, as its clients see it.
type life struct {
	*wire
	firstRun
	cookie string      // of the administrator, who has signed in
	mails  []string    // the folders they are written to
	over   atomic.Bool // nobody works any more
	trail  *trail
	began  time.Time
	tools  map[string]bool // of the bus, once somebody has asked; a check changes none
}

func newLife(w *wire, mails []string, t *trail) *life {
	return &life{wire: w, mails: mails, trail: t, began: time.Now()}
}

// sprint is the time that clients send requests as fast as they can. A life of minutes would otherwise make a
// file that no campaign gets through.
const sprint = time.Second

// alive reports whether there is more to do, for the loops of the clients.
func (l *life) alive() bool {
	if time.Since(l.began) > sprint {
		time.Sleep(50 * time.Millisecond)
	}
	return !l.over.Load()
}

// done notes that a write was acknowledged, and under what the trail must have it.
func (l *life) done(asked *attempt, proof string) {
	l.journal.acknowledge(asked)
	l.trail.owe(asked.what, proof)
}

// redirectURI is the redirect URI of every application here.
const redirectURI = "http://localhost/cb"

// request is the authorize request of an application.
func (a application) request(challenge string) url.Values {
	return url.Values{
		"response_type": {"code"}, "client_id": {a.ID}, "redirect_uri": {redirectURI}, "scope": {"openid profile"},
		"code_challenge": {challenge}, "code_challenge_method": {"S256"},
	}
}

// authorize returns a code of the demo's application for the administrator.
func (l *life) authorize() (*thing, answer, error) { return l.authorizeAs(nil, l.cookie) }

// authorizeAs returns a code with its verifier as the secret, and the answer if there is
// none. It asks no questions: who has not consented gets none.
func (l *life) authorizeAs(app *application, cookie string) (*thing, answer, error) {
	verifier := rand.Text() + rand.Text()
	sum := sha256.Sum256([]byte(verifier))
	query := l.appOf(app).request(base64.RawURLEncoding.EncodeToString(sum[:]))
	query.Set("prompt", "none")
	a, err := l.get("/oauth/authorize?"+query.Encode(), "Cookie", cookie)
	if err != nil {
		return nil, a, err
	}
	to, err := url.Parse(a.header.Get("Location"))
	if err != nil || a.status != http.StatusFound || to.Query().Get("code") == "" {
		return nil, a, nil
	}
	return &thing{kind: aCode, name: to.Query().Get("code"), secret: verifier, family: &family{app: app}}, a, nil
}

func (l *life) appOf(app *application) application {
	if app == nil {
		return l.App
	}
	return *app
}

func (l *life) exchange(code *thing) (answer, error) {
	return l.post("/oauth/token", l.appOf(code.family.app).form("grant_type", "authorization_code", "code", code.name,
		"redirect_uri", redirectURI, "code_verifier", code.secret))
}

func (l *life) refresh(token *thing) (answer, error) {
	return l.post("/oauth/token", l.appOf(token.family.app).form("grant_type", "refresh_token", "refresh_token",
		token.name))
}

func (l *life) revoke(token *thing) (answer, error) {
	return l.post("/oauth/revoke", l.appOf(token.family.app).form("token", token.name))
}

// grant opens a family of somebody's at an application. With an error there may be one too:
// the check gets its tokens if the kill cut the exchange off.
func (l *life) grant(app *application, cookie string) (*family, error) {
	code, a, err := l.authorizeAs(app, cookie)
	switch {
	case err != nil:
		l.journal.lose(issueCode)
		return nil, err
	case code == nil:
		l.journal.violated(nil, "authorize, with a session that was acknowledged, is answered %v", a)
		return nil, errGone
	}
	l.journal.add(code, issueCode)
	l.journal.acknowledge(&attempt{what: issueCode})
	asked := l.journal.begin(exchangeCode, code)
	if a, err = l.exchange(code); err != nil {
		return code.family, err
	}
	if !l.follow(code.family, a) {
		l.journal.violated(code, "it is good, and is answered %v", a)
		return code.family, errGone
	}
	l.journal.acknowledge(asked)
	return code.family, nil
}

// follow notes the tokens of an answer, which continue the family. It reports whether there
// were any.
func (l *life) follow(f *family, a answer) bool {
	r := a.reply()
	if a.status != http.StatusOK || r.Refresh == "" || r.Access == "" {
		return false
	}
	f.newest = l.journal.add(&thing{kind: aRefresh, name: r.Refresh, family: f}, "handed out")
	f.access = append(f.access, l.journal.add(&thing{kind: anAccess, name: r.Access, family: f}, "handed out"))
	return true
}

func (l *life) makeApp(name, tier string) (*application, error) {
	app := &application{}
	if err := l.made(app, "app create", []string{"name", name, "domain", "localhost", "tier", tier}); err != nil {
		l.journal.lose(createApp) // its client_id is drawn by the server
		return nil, err
	}
	l.done(&attempt{what: createApp}, "app create "+app.ID)
	return app, nil
}

// machine returns an application's own token.
func (l *life) machine(app *application) (string, error) {
	a, err := l.post("/oauth/token", app.form("grant_type", "client_credentials"))
	return a.reply().Access, err
}

// makeUser makes a user with a password, noted as a thing whose of is their sub.
func (l *life) makeUser(name string) (*thing, error) {
	u := l.journal.add(&thing{kind: aPassword, name: name, secret: firstPassword, ended: true}, "does not exist")
	asked := l.journal.begin(createUser, u)
	var is struct{ Sub string }
	if err := l.made(&is, "user create", []string{"username", u.name, "password", u.secret}); err != nil {
		return nil, err
	}
	u.of = is.Sub
	l.done(asked, "user create "+is.Sub)
	return u, nil
}

const firstPassword = "a password of crash"

// enter signs a user in whose password is known, and notes the session.
func (l *life) enter(password *thing) (*thing, error) {
	cookie, a, err := signIn(l.wire, password.name, password.secret)
	switch {
	case errors.Is(err, errGone):
		l.journal.lose(signInAgain)
		return nil, err
	case err != nil || cookie == "":
		l.journal.violated(password, "it was acknowledged, and the sign-in is answered %v", a)
		return nil, errGone
	}
	l.journal.acknowledge(&attempt{what: signInAgain})
	return l.journal.add(&thing{kind: aSession, name: cookie}, "signed in"), nil
}
