package main

import (
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
)

// How much one check asks about; what the last kill has put at risk is always among it.
const (
	recent = 150 // things that changed last, of each cycle
	old    = 8   // of each kind, working and ended each
	users  = 1   // a password costs as much as hundreds of tokens
)

// check asks a new life of the server about the journal.
func (j *journal) check(l *life, r *rand.Rand) error {
	for _, t := range j.due(r) {
		j.asked++
		p, err := l.probe(t)
		if err != nil {
			return err
		}
		j.judge(t, p)
		if p.works && !t.ended && (t.kind == aCode || t.kind == aRefresh) { // asking has used it up
			j.acknowledge(j.begin(used(t), t))
			l.follow(t.family, p.answer)
		}
	}
	return nil
}

// due chooses what to ask about: all whose fate is open, what changed last, some of the rest.
func (j *journal) due(r *rand.Rand) []*thing {
	var due, last []*thing
	rest := map[string][]*thing{}
	for _, t := range j.things {
		switch {
		case t.pending != nil:
			due = append(due, t)
		case t.cycle == j.cycle && t.kind != aUser:
			last = append(last, t)
		default:
			rest[t.class()] = append(rest[t.class()], t)
		}
	}
	slices.SortFunc(last, func(a, b *thing) int { return b.order - a.order })
	due = append(due, last[:min(recent, len(last))]...)
	for _, class := range classes {
		n := old
		if class == aUser {
			n = users
		}
		r.Shuffle(len(rest[class]), func(a, b int) { rest[class][a], rest[class][b] = rest[class][b], rest[class][a] })
		due = append(due, rest[class][:min(n, len(rest[class]))]...)
	}
	return due
}

func (t *thing) class() string {
	if t.ended {
		return t.kind + " ended"
	}
	return t.kind
}

var classes = []string{
	aCode, aCode + " ended", aRefresh, aRefresh + " ended", anAccess, anAccess + " ended", anApp, aUser, aSetting, aSetting + " ended",
}

// probed is what asking about a thing has shown.
type probed struct {
	works  bool
	odd    bool // neither does it work nor is it refused in the way it has to be
	answer answer
}

// judge holds what was seen against what was acknowledged.
func (j *journal) judge(t *thing, p probed) {
	switch {
	case p.odd:
		j.violated(t, "it is answered %v", p.answer)
	case t.pending != nil:
		j.settle(t, t.ended == p.works)
	case p.works && t.ended:
		j.violated(t, "it had ended, and works: %v", p.answer)
	case !p.works && !t.ended:
		j.violated(t, "it was acknowledged, and does not work: %v", p.answer)
	}
}

// settle notes what became of a write whose answer was lost. From here on that is the truth.
func (j *journal) settle(t *thing, happened bool) {
	a := t.pending
	switch {
	case !a.settled && happened:
		j.of(a.what).happened++
	case !a.settled:
		j.of(a.what).missed++
	case a.happened != happened:
		j.violated(t, "%s: it happened to a part of what it is about", a.what)
	}
	a.settled, a.happened, t.pending = true, happened, nil
	if happened {
		t.ended = !t.ended
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.note(t, a.what+map[bool]string{true: ": the answer was lost; it happened", false: ": the answer was lost; it did not happen"}[happened])
}

func used(t *thing) string {
	if t.kind == aCode {
		return exchangeCode
	}
	return rotate
}

// probe asks the server whether a thing works.
func (l *life) probe(t *thing) (probed, error) {
	switch t.kind {
	case aCode:
		a, err := l.exchange(t)
		r := a.reply()
		used := a.status == http.StatusBadRequest && r.Error == "invalid_grant" && r.Code == 40163
		return probed{r.Refresh != "", !used && r.Refresh == "", a}, err
	case aRefresh:
		a, err := l.refresh(t)
		r := a.reply()
		refused := a.status == http.StatusBadRequest && r.Error == "invalid_grant"
		return probed{r.Refresh != "", !refused && r.Refresh == "", a}, err
	case anAccess:
		a, err := l.get("/oauth/userinfo", "Authorization", "Bearer "+t.name)
		return probed{a.status == http.StatusOK, a.status != http.StatusOK && a.status != http.StatusUnauthorized, a}, err
	case anApp:
		form := l.form("grant_type", "client_credentials", "client_id", t.name, "client_secret", t.secret)
		a, err := l.post("/oauth/token", form)
		return probed{a.reply().Access != "", false, a}, err
	case aUser:
		return l.probeUser(t)
	}
	value, err := l.current()
	return probed{value == t.name, value != "0" && value != "1", answer{body: []byte(value)}}, err
}

// probeUser asks for an open one to be made once more, because a sign-in that fails would
// count: if the name is taken, the first attempt has happened.
func (l *life) probeUser(t *thing) (probed, error) {
	if t.pending != nil {
		out, err := l.createUser(t)
		if err != nil {
			return probed{}, err
		}
		if out.Error == "" {
			l.journal.judge(t, probed{works: false})
			l.journal.acknowledge(l.journal.begin(createUser, t))
		} else if !strings.Contains(out.Error, "exists") {
			return probed{odd: true, answer: answer{body: []byte(out.Error)}}, nil
		} else {
			l.journal.judge(t, probed{works: true})
		}
	}
	cookie, a, err := signIn(l.wire, t.name, t.secret)
	return probed{works: cookie != "", answer: a}, err
}
