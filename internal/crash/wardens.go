package main

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// warden locks a user out, and lets them in again.
type warden struct {
	*life
	rand    *rand.Rand
	count   int
	user    *thing // their password; nil: another one is to be made
	stands  *thing // that they are enabled
	session *thing
}

func (w *warden) work(l *life) {
	w.life = l
	for l.alive() {
		if err := w.step(); err != nil {
			return
		}
	}
}

func (w *warden) step() (err error) {
	switch {
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

func (w *warden) begin() (err error) {
	w.count++
	w.stands, w.session = nil, nil
	if w.user, err = w.makeUser(fmt.Sprintf("warded-%d", w.count)); err == nil {
		w.stands = w.journal.add(&thing{kind: aStanding, name: w.user.of}, "enabled")
	}
	return err
}

// order disables or enables the user; the session ends behind it.
func (w *warden) order(what, command string) error {
	var ends *attempt
	asked := w.journal.begin(what, w.stands, w.user)
	if what == disableUser && w.session != nil && !w.session.ended {
		ends = w.journal.beginApart(endByDisabling, w.session)
	}
	var is struct{ Sub string }
	if err := w.made(&is, command, nil, w.user.name); err != nil {
		return err
	}
	w.done(asked, command+" "+w.user.name)
	if ends != nil {
		w.journal.acknowledge(ends)
	}
	return nil
}

// probeStanding reads whether a user is enabled.
func (l *life) probeStanding(t *thing) (probed, error) {
	a, err := l.get("/api/console/users/"+t.name, "Cookie", l.cookie)
	on, off := strings.Contains(string(a.body), `"disabled":false`), strings.Contains(string(a.body), `"disabled":true`)
	return probed{on, !on && !off, a}, err
}
