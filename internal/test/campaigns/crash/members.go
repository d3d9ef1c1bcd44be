package main

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
)

// member is a person who signs up, in, out, and changes their password.
type member struct {
	*life
	rand     *rand.Rand
	count    int
	changes  int    // of the password
	password *thing // nil: they are to sign up
	next     *thing // the one that is taking its place
	sessions []*thing
	grants   []*family
}

const (
	maxSessions = 3
	maxChanges  = 4 // and then it is somebody else's turn
)

func (m *member) work(l *life) {
	m.life = l
	m.resume()
	for l.alive() {
		if err := m.step(); err != nil {
			return
		}
	}
}

// resume goes on with what the check has found after the kill.
func (m *member) resume() {
	if m.next != nil && !m.next.ended {
		m.password = m.next
	}
	if m.password != nil && m.password.ended {
		m.password = nil
	}
	m.sessions = slices.DeleteFunc(m.sessions, func(t *thing) bool { return t.ended })
}

func (m *member) step() (err error) {
	switch n := m.rand.IntN(100); {
	case m.password == nil || m.changes >= maxChanges:
		return m.signUp()
	case len(m.sessions) == 0 || n < 30 && len(m.sessions) < maxSessions:
		var s *thing
		if s, err = m.enter(m.password); err == nil {
			m.sessions = append(m.sessions, s)
		}
		return err
	case n < 60:
		var f *family
		if f, err = m.grant(nil, m.sessions[0].name); f != nil {
			m.grants = append(m.grants, f)
		}
		return err
	case n < 80:
		return m.signOut()
	case n < 88:
		return m.signOutAll()
	}
	return m.change()
}

func (m *member) signUp() error {
	m.count++
	m.changes, m.next, m.sessions, m.grants = 0, nil, nil, nil
	p := m.journal.add(&thing{kind: aPassword, name: fmt.Sprintf("member-%d", m.count), secret: firstPassword,
		ended: true}, "does not exist")
	m.password = p
	asked := m.journal.begin(signUp, p)
	a, err := m.post("/oauth/signin/signup", url.Values{"username": {p.name}, "password": {p.secret}})
	if err != nil {
		return err
	}
	if err := m.entered(p, a); err != nil {
		return err
	}
	m.journal.acknowledge(asked)
	return nil
}

// entered notes the session that an answer begins.
func (m *member) entered(t *thing, a answer) error {
	cookie := a.cookie(sessionCookie)
	if a.status != http.StatusSeeOther || cookie == "" {
		m.journal.violated(t, "the form that should begin a session is answered %v", a)
		return errGone
	}
	m.sessions = append(m.sessions, m.journal.add(&thing{kind: aSession, name: cookie}, "begun"))
	return nil
}

// all returns what ends when the user is signed out everywhere.
func (m *member) all() []*thing {
	all := slices.Clone(m.sessions)
	for _, f := range m.grants {
		all = append(all, f.alive()...)
	}
	return all
}

func (m *member) signOut() error {
	i := m.rand.IntN(len(m.sessions))
	s := m.sessions[i]
	asked := m.journal.begin(signOut, s)
	a, err := m.post("/oauth/logout", url.Values{"a": {"b"}}, "Cookie", s.name)
	switch {
	case err != nil:
		return err
	case a.status != http.StatusOK:
		m.journal.violated(s, "signing out is answered %v", a)
		return errGone
	}
	m.sessions = append(m.sessions[:i:i], m.sessions[i+1:]...)
	m.done(asked, a.id())
	return nil
}

func (m *member) signOutAll() error {
	s := m.sessions[0]
	asked := m.journal.beginApart(signOutAll, m.all()...)
	a, err := m.post("/oauth/account/everywhere", url.Values{"a": {"b"}}, "Cookie", s.name)
	switch {
	case err != nil:
		return err
	case a.status != http.StatusSeeOther || a.header.Get("Location") != "/oauth/signin":
		m.journal.violated(s, "signing out everywhere is answered %v", a)
		return errGone
	}
	m.sessions, m.grants = nil, nil
	m.done(asked, a.id())
	return nil
}

// change is answered with a new session; all others end, and so does what was granted.
func (m *member) change() error {
	m.changes++
	next := m.journal.add(&thing{kind: aPassword, name: m.password.name,
		secret: fmt.Sprintf("password number %d", m.changes), ended: true}, "not set")
	m.next = next
	asked := m.journal.begin(changePassword, m.password, next)
	ends := m.journal.beginApart(endByPassword, m.all()...)
	a, err := m.post("/oauth/signin/password", url.Values{"current": {m.password.secret}, "password": {next.secret}},
		"Cookie", m.sessions[0].name)
	if err != nil {
		return err
	}
	m.sessions, m.grants = nil, nil
	if err := m.entered(next, a); err != nil {
		return err
	}
	m.done(asked, a.id())
	m.journal.acknowledge(ends)
	m.password, m.next = next, nil
	return nil
}

// probePassword signs in with it.
func (l *life) probePassword(t *thing) (probed, error) {
	cookie, a, err := signIn(l.wire, t.name, t.secret)
	return probed{cookie != "", cookie == "" && a.status != http.StatusUnauthorized, a}, err
}

// probeSession opens a page that leads who is not signed in elsewhere.
func (l *life) probeSession(t *thing) (probed, error) {
	a, err := l.get("/oauth/signin/password", "Cookie", t.name)
	return probed{a.status == http.StatusOK, a.status != http.StatusOK && a.status != http.StatusSeeOther, a}, err
}
