package main

import (
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"sync"
	"time"
)

// Kinds of things.
const (
	aCode       = "code"
	aRefresh    = "refresh token"
	anAccess    = "access token"
	anApp       = "application"
	aSecret     = "application's secret"
	aPassword   = "password"
	aSession    = "session"
	aStanding   = "user's right to sign in"
	aSetting    = "setting"
	anOrder     = "status of an order"
	aTier       = "tier"
	aConsent    = "consent"
	aTool       = "tool"
	aMailedCode = "mailed code"
)

// kind says how to ask about things of one sort.
type kind struct {
	ask func(*life, *thing) (probed, error)
	old int // of earlier cycles, working and ended each, that one check asks about
}

// Bounds of one check; the records that the last kill has put at risk are always among it.
const (
	recent  = 200 // things that changed last
	some    = 10
	few     = 2 // a password costs as much as hundreds of tokens
	maxKept = 4000
)

var kindsOf = map[string]kind{
	aCode: {(*life).probeCode, some}, aRefresh: {(*life).probeRefresh, some}, anAccess: {(*life).probeAccess, some},
	anApp: {(*life).probeSecret, some}, aSecret: {(*life).probeSecret, some},
	aPassword: {(*life).probePassword, few},
	aSession:  {(*life).probeSession, some}, aStanding: {(*life).probeStanding, some},
	aSetting: {(*life).probeSetting, some},
	anOrder:  {(*life).probeOrder, some}, aTier: {(*life).probeTier, some}, aConsent: {(*life).probeConsent, some},
	aTool: {(*life).probeTool, some}, aMailedCode: {(*life).probeMailed, some},
}

// check asks a new life of the server about the journal.
func (j *journal) check(l *life, r *rand.Rand) error {
	due := j.due(r)
	for i, asked := range l.queryAll(due) {
		t := due[i]
		j.asked++
		if asked.err != nil {
			return asked.err
		}
		j.verify(t, asked.probed)
		if what := used[t.kind]; what != "" && asked.works && !t.ended { // asking has used it up
			j.acknowledge(j.begin(what, t))
			if t.family != nil {
				l.follow(t.family, asked.answer)
			}
		}
	}
	return nil
}

// abreast bounds the concurrent probes.
const abreast = 6

// query holds the result of a probe.
type query struct {
	probed
	err error
}

// queryAll asks about things, several at a time, and returns the answers in their order.
func (l *life) queryAll(due []*thing) []query {
	all := make([]query, len(due))
	next := make(chan int)
	var asking sync.WaitGroup
	for range abreast {
		asking.Go(func() {
			for i := range next {
				all[i].probed, all[i].err = kindsOf[due[i].kind].ask(l, due[i])
			}
		})
	}
	for i := range due {
		next <- i
	}
	close(next)
	asking.Wait()
	return all
}

// due chooses what to ask about: all whose fate is open, what changed last, some of the rest.
func (j *journal) due(r *rand.Rand) []*thing {
	var due, last []*thing
	rest := map[string][]*thing{}
	now := time.Now()
	for _, t := range j.things {
		_, unsure := t.ends(now)
		switch {
		case t.pending != nil:
			due = append(due, t)
		case t.forgotten || unsure:
		case t.cycle == j.cycle && kindsOf[t.kind].old > few:
			last = append(last, t)
		default:
			rest[t.class()] = append(rest[t.class()], t)
		}
	}
	slices.SortFunc(last, func(a, b *thing) int { return b.order - a.order })
	due = append(due, last[:min(recent, len(last))]...)
	for _, class := range slices.Sorted(maps.Keys(rest)) { // sorted: the same seed asks the same
		all := rest[class]
		r.Shuffle(len(all), func(a, b int) { all[a], all[b] = all[b], all[a] })
		due = append(due, all[:min(kindsOf[all[0].kind].old, len(all))]...)
		for _, t := range all[min(maxKept, len(all)):] {
			t.forgotten = true
		}
	}
	j.clear()
	return due
}

// clear drops what nobody will be asked about any more, so that a journal of thousands of
// cycles fits.
func (j *journal) clear() {
	n := len(j.things)
	j.things = slices.DeleteFunc(j.things, func(t *thing) bool { return t.forgotten && t.pending == nil })
	j.forgotten += n - len(j.things)
}

func (t *thing) class() string {
	if t.ended {
		return t.kind + " ended"
	}
	return t.kind
}

// probed holds what a probe of a thing has shown.
type probed struct {
	works  bool
	odd    bool // neither does it work nor is it refused in the way it has to be
	answer answer
}

// verify holds what was seen against what was acknowledged.
func (j *journal) verify(t *thing, p probed) {
	over, _ := t.ends(time.Now())
	switch {
	case p.odd:
		j.violated(t, "it is answered %v", p.answer)
	case t.pending != nil:
		j.settle(t, t.ended == p.works)
	case p.works && over:
		j.violated(t, "it had ended, and works: %v", p.answer)
	case !p.works && !over:
		j.violated(t, "it was acknowledged, and does not work: %v", p.answer)
	}
}

// settle notes what became of a write whose answer was lost. From here on that is the truth.
func (j *journal) settle(t *thing, happened bool) {
	a := t.pending
	switch {
	case !a.settled && happened:
		j.of(a.what).happened++
		if a.then != nil {
			a.then()
		}
	case !a.settled:
		j.of(a.what).missed++
	case a.happened != happened && !a.apart:
		j.violated(t, "%s: it happened to a part of what it is about", a.what)
	}
	a.settled, a.happened, t.pending = true, happened, nil
	if happened {
		t.ended = !t.ended
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.note(t, a.what+map[bool]string{true: ": the answer was lost; it happened",
		false: ": the answer was lost; it did not happen"}[happened])
}

// used records what asking about a thing that works does to it.
var used = map[string]string{aCode: exchangeCode, aRefresh: rotate, aMailedCode: useMailed}

func (l *life) probeCode(t *thing) (probed, error) {
	a, err := l.exchange(t)
	r := a.reply()
	used := a.status == http.StatusBadRequest && r.Error == "invalid_grant" && r.Code == 40163
	return probed{r.Refresh != "", !used && r.Refresh == "", a}, err
}

func (l *life) probeRefresh(t *thing) (probed, error) {
	a, err := l.refresh(t)
	r := a.reply()
	refused := a.status == http.StatusBadRequest && r.Error == "invalid_grant"
	return probed{r.Refresh != "", !refused && r.Refresh == "", a}, err
}

func (l *life) probeAccess(t *thing) (probed, error) {
	a, err := l.get("/oauth/userinfo", "Authorization", "Bearer "+t.name)
	return probed{a.status == http.StatusOK, a.status != http.StatusOK && a.status != http.StatusUnauthorized, a}, err
}

// probeSecret has an application ask for a token of its own.
func (l *life) probeSecret(t *thing) (probed, error) {
	a, err := l.post("/oauth/token", application{ID: t.name, Secret: t.secret}.form("grant_type", "client_credentials"))
	r := a.reply()
	return probed{r.Access != "", r.Access == "" && a.status != http.StatusUnauthorized, a}, err
}

func (l *life) probeSetting(t *thing) (probed, error) {
	value, err := l.current()
	return probed{value == t.name, value != "0" && value != "1", answer{body: []byte(value)}}, err
}
