package main

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// postman asks for codes by mail and signs in with some of them. A mail is promised with the
// answer and handed over behind it: at once, in a later life, or, if the kill came amid that, when
// the lease of the server that was killed is over.
type postman struct {
	*life
	rand  *rand.Rand
	count int
	asked *mailed   // whose mail has not come yet
	owed  []*mailed // of earlier lives, promised and not come yet
}

// mailLease is the time that a mail waits which a kill has cut off, until it is sent again, and a
// little more.
const mailLease = 170 * time.Second

// mailed is a code that was asked for.
type mailed struct {
	address, cookie string
	at              time.Time
}

const codeLife = 10 * time.Minute

func (p *postman) work(l *life) {
	p.life = l
	for l.alive() {
		if err := p.step(); err != nil {
			return
		}
	}
}

func (p *postman) step() error {
	if p.asked == nil {
		return p.ask()
	}
	code := p.arrived(p.asked)
	switch {
	case code == nil && time.Since(p.asked.at) > 10*time.Second && !p.doomed.Load():
		p.journal.violated(nil, "the mail to %s does not come, and nobody kills the server", p.asked.address)
		return errGone
	case code == nil:
		time.Sleep(2 * time.Millisecond)
		return nil
	}
	if p.asked = nil; p.rand.IntN(2) == 0 {
		return nil // for the check
	}
	asked := p.journal.begin(useMailed, code)
	a, err := p.typeIn(code)
	switch {
	case err != nil:
		return err
	case a.cookie(sessionCookie) == "":
		p.journal.violated(code, "it is good, and is answered %v", a)
		return errGone
	}
	p.journal.acknowledge(asked)
	return nil
}

func (p *postman) ask() error {
	p.count++
	m := &mailed{address: fmt.Sprintf("mail-%d@example.com", p.count), at: time.Now()}
	a, err := p.post("/oauth/signin/email", url.Values{"address": {m.address}})
	switch {
	case err != nil:
		p.journal.lose(mailCode)
		return err
	case a.status != http.StatusSeeOther || a.cookie(browserCookie) == "":
		p.journal.violated(nil, "asking for a code by mail is answered %v", a)
		return errGone
	}
	m.cookie = a.cookie(browserCookie)
	p.asked = m
	return nil
}

const browserCookie = "keystile_browser"

var sixDigits = regexp.MustCompile(`\n\nYour code is (\d{6})\n`)

// arrived notes the code of a mail, nil as long as there is none.
func (l *life) arrived(m *mailed) *thing {
	var paths []string
	for _, folder := range l.mails {
		names, _ := os.ReadDir(folder) // there is none before the first mail
		for i := len(names) - 1; i >= 0; i-- {
			paths = append(paths, filepath.Join(folder, names[i].Name()))
		}
	}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		found := sixDigits.FindSubmatch(text)
		if err != nil || found == nil || !strings.Contains(string(text), "\nTo: "+m.address+"\n") {
			continue
		}
		t := &thing{kind: aMailedCode, name: m.address, secret: string(found[1]), of: m.cookie, until: m.at.Add(codeLife)}
		l.journal.acknowledge(&attempt{what: mailCode})
		return l.journal.add(t, "arrived")
	}
	return nil
}

// check looks for the mails that were promised before the kill. One that a code has outlived is not
// sent any more.
func (p *postman) check(l *life) error {
	if p.asked != nil {
		p.owed = append(p.owed, p.asked)
	}
	p.asked = nil
	p.owed = slices.DeleteFunc(p.owed, func(m *mailed) bool {
		late := time.Since(m.at) > codeLife
		if late {
			l.journal.lose(mailCode)
		}
		return late || l.arrived(m) != nil
	})
	return nil
}

// wait gives the mails that are owed so much time, and returns the addresses of those that do not
// come and whose codes are still good.
func (p *postman) wait(l *life, most time.Duration) (missing []string) {
	for until := time.Now().Add(most); ; time.Sleep(10 * time.Millisecond) {
		_ = p.check(l)
		if len(p.owed) == 0 || time.Now().After(until) {
			break
		}
	}
	for _, m := range p.owed {
		missing = append(missing, m.address)
	}
	return missing
}

func (l *life) typeIn(code *thing) (answer, error) {
	return l.post("/oauth/signin/email/code", url.Values{"code": {code.secret}}, "Cookie", code.of)
}

// probeMailed types a code in; one that works is used by that.
func (l *life) probeMailed(t *thing) (probed, error) {
	a, err := l.typeIn(t)
	works := a.cookie(sessionCookie) != ""
	return probed{works, !works && a.status != http.StatusBadRequest, a}, err
}
