package main

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strings"
)

// truster is a person who allows an application something, and takes it back.
type truster struct {
	*life
	rand    *rand.Rand
	count   int
	user    *thing // nil: they are to be made
	session *thing
	app     *application
	consent *thing
	turns   int // of the consent to this application
	grants  []*family
}

// maxTurns bounds how often one application is allowed something, before it is another's turn.
const maxTurns = 5

const maxGrants = 3

func (u *truster) work(l *life) {
	u.life = l
	for l.alive() {
		if err := u.step(); err != nil {
			return
		}
	}
}

func (u *truster) step() (err error) {
	switch {
	case u.user == nil:
		u.count++
		u.user, err = u.makeUser(fmt.Sprintf("truster-%d", u.count))
		return err
	case u.session == nil:
		u.session, err = u.enter(u.user)
		return err
	case u.consent == nil || u.turns > maxTurns:
		return u.meet()
	case u.consent.ended:
		return u.allow()
	case len(u.grants) < maxGrants && u.rand.IntN(3) > 0:
		f, err := u.grant(u.app, u.session.name)
		if f != nil {
			u.grants = append(u.grants, f)
		}
		return err
	}
	return u.takeBack()
}

// meet makes another application, which has never been allowed anything.
func (u *truster) meet() error {
	app, err := u.makeApp("Trusted", "enterprise")
	if err != nil {
		return err
	}
	u.app, u.grants, u.turns = app, nil, 0
	u.consent = u.journal.add(&thing{kind: aConsent, name: app.ID, secret: u.session.name, ended: true}, "never asked")
	return nil
}

func (u *truster) allow() error {
	asked := u.journal.begin(giveConsent, u.consent)
	a, err := u.post("/oauth/signin/consent", url.Values{
		"query": {u.app.request("").Encode()}, "user": {u.user.of}, "scope": {"openid profile"}, "allow": {"1"},
	}, "Cookie", u.session.name)
	switch {
	case err != nil:
		return err
	case a.status != http.StatusSeeOther:
		u.journal.violated(u.consent, "giving it is answered %v", a)
		return errGone
	}
	u.journal.acknowledge(asked)
	return nil
}

func (u *truster) takeBack() error {
	u.turns++
	var all []*thing
	for _, f := range u.grants {
		all = append(all, f.alive()...)
	}
	asked, ends := u.journal.begin(takeBack, u.consent), u.journal.beginApart(endByTakeBack, all...)
	a, err := u.post("/oauth/account/access", url.Values{"app": {u.app.ID}}, "Cookie", u.session.name)
	switch {
	case err != nil:
		return err
	case a.status != http.StatusSeeOther:
		u.journal.violated(u.consent, "taking it back is answered %v", a)
		return errGone
	}
	u.grants = nil
	u.done(asked, a.id())
	u.journal.acknowledge(ends)
	return nil
}

// probeConsent asks for a code in a way that forbids to ask the person.
func (l *life) probeConsent(t *thing) (probed, error) {
	code, a, err := l.authorizeAs(&application{ID: t.name}, t.secret)
	asks := strings.Contains(a.header.Get("Location"), "error=consent_required")
	if err == nil && code == nil && !asks {
		a.body = append(a.body, a.header.Get("Location")...)
	}
	return probed{code != nil, code == nil && !asks, a}, err
}
