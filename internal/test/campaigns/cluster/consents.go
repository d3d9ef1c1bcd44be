package main

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/keystile/keystile/storage/event"
)

// truster allows an application something at one node, which another one knows at once.
type truster struct {
	*actor
	sub, session string
}

func (u *truster) step() {
	if u.session == "" {
		name := u.fresh("truster")
		if u.sub = u.makeUser(u.node(), name); u.sub != "" {
			u.session = u.signIn(u.way(), name, password)
		}
		return
	}
	at := u.node()
	app := u.makeApp(at, "Trusted", "enterprise")
	if app == nil {
		return
	}
	a := u.post(at, "/oauth/signin/consent", url.Values{
		"query": {app.request("").Encode()}, "user": {u.sub}, "scope": {"openid profile"}, "allow": {"1"},
	}, "Cookie", u.session)
	if a.unknown {
		u.lostSight("consent given")
		return
	}
	if a.status != http.StatusSeeOther {
		u.violated("giving consent is answered %v", a)
		return
	}
	u.did("consent given")
	u.codes(u.other(at), *app)
	u.takeBack(*app)
}

// codes has another node act on the consent, and a third one give the tokens.
func (u *truster) codes(at int, app application) {
	code, verifier, is := u.authorize(at, app, u.session)
	switch {
	case is.unknown:
		return
	case code == "":
		u.violated("consent was given at a node, and another one answers %v, %s", is, is.header.Get("Location"))
		return
	}
	a := u.post(u.other(at), "/oauth/token", app.redeem(code, verifier))
	switch {
	case a.unknown:
		u.lostSight("token by a consent of another node")
	case a.reply().Access == "":
		u.violated("a code of another node is answered %v", a)
	default:
		u.did("token by a consent of another node")
	}
}

// takeBack ends the consent at one node; another one asks the person again.
func (u *truster) takeBack(app application) {
	at := u.node()
	a := u.post(at, "/oauth/account/access", url.Values{"app": {app.ID}}, "Cookie", u.session)
	switch {
	case a.unknown:
		u.lostSight("consent taken back")
		return
	case a.status != http.StatusSeeOther:
		u.violated("taking a consent back is answered %v", a)
		return
	}
	u.did("consent taken back")
	u.trail.owe(event.Revocation, a.id())
	code, _, is := u.authorize(u.other(at), app, u.session)
	if !is.unknown && (code != "" || !strings.Contains(is.header.Get("Location"), "consent_required")) {
		u.violated("consent was taken back at a node, and another one answers %v, %s", is, is.header.Get("Location"))
	}
}
