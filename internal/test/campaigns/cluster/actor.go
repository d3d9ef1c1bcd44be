package main

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	mathrand "math/rand/v2"
	"net/http"
	"net/url"
	"time"

	"github.com/keystile/keystile/internal/test/serving"

	"github.com/keystile/keystile/storage/event"
)

// actor is somebody who asks the nodes for something, again and again.
type actor struct {
	*model
	*world
	rand *mathrand.Rand
}

// world holds what all actors know.
type world struct {
	app     application // of the first run
	admin   struct{ name, password string }
	session func() string // of the administrator
	trail   *trail
	used    pool[kept]    // codes and refresh tokens that were redeemed
	later   pool[revoked] // access tokens that were revoked
}

// application is one with its secret.
type application serving.App

// form is a request of the application: name, value, name, value.
func (a application) form(pairs ...string) url.Values {
	v := url.Values{"client_id": {a.ID}, "client_secret": {a.Secret}}
	for i := 0; i < len(pairs); i += 2 {
		v.Set(pairs[i], pairs[i+1])
	}
	return v
}

// redirectURI is the redirect URI of every application here.
const redirectURI = "http://localhost/cb"

const sessionCookie = "open_sso_token"

// node draws a node, one that the balancer takes for ready if there is one.
func (a *actor) node() int {
	n := len(a.site.nodes)
	first := a.rand.IntN(n)
	for i := range n {
		if k := (first + i) % n; a.site.balancer.Ready(k) {
			return k
		}
	}
	return first
}

// other draws a node that is not this one.
func (a *actor) other(not int) int {
	n := len(a.site.nodes)
	return (not + 1 + a.rand.IntN(n-1)) % n
}

// way draws a node, or the balancer.
func (a *actor) way() int {
	if a.rand.IntN(2) == 0 {
		return balanced
	}
	return a.node()
}

// pause lets the others get on.
func (a *actor) pause(most time.Duration) { time.Sleep(time.Duration(a.rand.Int64N(int64(most)))) }

// authorize asks for a code without any question to the person. The verifier goes with it.
func (a *actor) authorize(way int, app application, cookie string) (code, verifier string, is answer) {
	verifier = rand.Text() + rand.Text()
	sum := sha256.Sum256([]byte(verifier))
	query := app.request(base64.RawURLEncoding.EncodeToString(sum[:]))
	query.Set("prompt", "none")
	is = a.get(way, "/oauth/authorize?"+query.Encode(), "Cookie", cookie)
	to, err := url.Parse(is.header.Get("Location"))
	if is.unknown || err != nil || is.status != http.StatusFound {
		return "", "", is
	}
	return to.Query().Get("code"), verifier, is
}

// request is the authorize request of an application.
func (a application) request(challenge string) url.Values {
	return url.Values{
		"response_type": {"code"}, "client_id": {a.ID}, "redirect_uri": {redirectURI}, "scope": {"openid profile"},
		"code_challenge": {challenge}, "code_challenge_method": {"S256"},
	}
}

// redeem is the form that redeems a code, or a refresh token if there is no verifier.
func (a application) redeem(token, verifier string) url.Values {
	if verifier == "" {
		return a.form("grant_type", "refresh_token", "refresh_token", token)
	}
	return a.form("grant_type", "authorization_code", "code", token, "redirect_uri", redirectURI, "code_verifier",
		verifier)
}

// machine returns an application's own token, "" if there was no answer.
func (a *actor) machine(way int, app application) (string, answer) {
	is := a.post(way, "/oauth/token", app.form("grant_type", "client_credentials"))
	if !is.unknown && is.reply().Access == "" {
		a.violated("an application that was acknowledged is refused: %v", is)
	}
	return is.reply().Access, is
}

// makeApp makes an application at a node; none, if there was no answer.
func (a *actor) makeApp(node int, name, tier string) *application {
	app := &application{}
	if is := a.run(node, app, "app create", []string{"name", name, "domain", "localhost", "tier", tier}); is.unknown {
		a.lostSight("application made")
		return nil
	}
	a.did("application made")
	a.trail.owe(event.Admin, "app create "+app.ID)
	return app
}

const password = "a password of cluster"

// makeUser makes a user at a node, and returns their sub; "" if there was no answer.
func (a *actor) makeUser(node int, name string) string {
	var is struct{ Sub string }
	if a.run(node, &is, "user create", []string{"username", name, "password", password}).unknown {
		a.lostSight("user made")
		return ""
	}
	a.did("user made")
	a.trail.owe(event.Admin, "user create "+is.Sub)
	return is.Sub
}

// signIn returns the cookie of a session, "" if there was no answer.
func (a *actor) signIn(way int, name, password string) string {
	for range 30 {
		is := a.post(way, "/oauth/signin", url.Values{"username": {name}, "password": {password}})
		if is.crowded() {
			time.Sleep(time.Second)
			continue
		}
		cookie := is.cookie(sessionCookie)
		if !is.unknown && (is.status != http.StatusSeeOther || cookie == "") {
			a.violated("a password that was acknowledged is answered %v", is)
		}
		return cookie
	}
	return ""
}

// fresh returns a name that nobody has.
func (a *actor) fresh(what string) string { return fmt.Sprintf("%s-%d", what, a.rand.Uint64()) }
