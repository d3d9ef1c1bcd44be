package main

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// userDisabler disables a user, and enables them again.
type userDisabler struct {
	*life
	rand    *rand.Rand
	count   int
	user    *thing // their password; nil: another one is to be made
	stands  *thing // that they are enabled
	session *thing
	doubt   *thing // a session that was to end with the user, and nobody knows whether it has
}

func (w *userDisabler) work(l *life) {
	w.life = l
	for l.alive() {
		if err := w.step(); err != nil {
			return
		}
	}
}

func (w *userDisabler) step() (err error) {
	switch {
	case w.doubt != nil:
		return w.order(disableUser, "user disable")
	case w.stands == nil || w.rand.IntN(10) == 0:
		return w.begin()
	case w.stands.ended:
		return w.order(enableUser, "user enable")
	case (w.session == nil || w.session.ended) && w.rand.IntN(3) == 0:
		w.session, err = w.enter(w.user)
		return err
	}
	return w.order(disableUser, "user disable")
}

func (w *userDisabler) begin() (err error) {
	w.count++
	w.stands, w.session, w.doubt = nil, nil, nil
	if w.user, err = w.makeUser(fmt.Sprintf("warded-%d", w.count)); err == nil {
		w.stands = w.journal.add(&thing{kind: aStanding, name: w.user.of}, "enabled")
	}
	return err
}

// order disables or enables the user; the session ends behind it. Of a disabling whose answer
// was lost nobody can see whether it came to the session, which nobody can use meanwhile: it
// is ordered once more, and then the session must have ended.
func (w *userDisabler) order(what, command string) error {
	var turns []*thing
	for _, t := range []*thing{w.stands, w.user} {
		if t.ended == (what == enableUser) {
			turns = append(turns, t)
		}
	}
	asked := w.journal.begin(what, turns...)
	if what == disableUser && w.session != nil && !w.session.ended {
		w.doubt, w.session = w.session, nil
		w.journal.forget(w.doubt)
	}
	var is struct{ Sub string }
	if err := w.made(&is, command, nil, w.user.name); err != nil {
		return err
	}
	w.done(asked, "user set "+is.Sub)
	if w.doubt != nil {
		w.journal.add(&thing{kind: aSession, name: w.doubt.name, ended: true}, endByDisabling)
		w.journal.acknowledge(&attempt{what: endByDisabling})
		w.doubt = nil
	}
	return nil
}

// probeStanding reads whether a user is enabled.
func (l *life) probeStanding(t *thing) (probed, error) {
	a, err := l.get("/api/console/users/"+t.name, "Cookie", l.cookie)
	on, off := strings.Contains(string(a.body), `"disabled":false`), strings.Contains(string(a.body), `"disabled":true`)
	return probed{on, !on && !off, a}, err
}
