package main

import (
	"fmt"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// thing is something that works at the server or does not.
type thing struct {
	kind      string
	name      string    // a handle, a client_id, a username, a value
	secret    string    // what goes with it: a verifier, a client_secret, a password
	of        string    // the application that it belongs to, if that is part of the question
	until     time.Time // it works until then, if it has not ended before; zero: for as long as that
	forgotten bool      // nobody can know whether it works
	ended     bool      // acknowledged: it must not work; otherwise it must
	pending   *attempt
	cycle     int // in which it last changed
	order     int // of its last change among all
	family    *family
	lines     []line
}

// line holds the journal's entry about a thing.
type line struct {
	cycle int
	at    time.Duration
	text  string
}

func (l line) String() string {
	return fmt.Sprintf("cycle %d, %9.4f s: %s", l.cycle, l.at.Seconds(), l.text)
}

// story is all lines of a thing.
func (t *thing) story() string {
	var out strings.Builder
	fmt.Fprintf(&out, "%s %s", t.kind, t.name)
	for _, l := range t.lines {
		fmt.Fprintf(&out, "\n    %s", l)
	}
	return out.String()
}

// family is the tokens of one grant. Only the client that holds it changes it.
type family struct {
	app    *application // it was granted to; nil: the demo's
	newest *thing       // the refresh token to go on with; ended: there is none
	access []*thing
}

// alive holds the members of the family that have not ended.
func (f *family) alive() (all []*thing) {
	for _, t := range append([]*thing{f.newest}, f.access...) {
		if t != nil && !t.ended && t.pending == nil {
			all = append(all, t)
		}
	}
	return all
}

// attempt is one write that was sent and changes all its things, or none of them.
type attempt struct {
	what     string
	things   []*thing
	apart    bool   // of several writes: it may have changed some of its things
	then     func() // told once, when it is known to have happened
	settled  bool   // the answer was lost, and a look has told what became of it
	happened bool
}

// journal holds what the clients know. Many write to it at once; each thing belongs to one of
// them while they work, and to the check afterwards.
type journal struct {
	mu         sync.Mutex
	began      time.Time
	cycle      int
	order      int // of the last change
	asked      int // questions of all checks
	things     []*thing
	forgotten  int // things that are not asked about any more
	requests   atomic.Uint32
	tally      map[string]*tally
	violations []string
}

// tally counts the writes of one kind.
type tally struct{ acknowledged, happened, missed, unseen int }

func newJournal() *journal { return &journal{began: time.Now(), tally: map[string]*tally{}} }

func (j *journal) of(what string) *tally {
	if j.tally[what] == nil {
		j.tally[what] = &tally{}
	}
	return j.tally[what]
}

// add notes a thing that the server has just acknowledged, or, if ended, one that it is
// going to be asked for.
func (j *journal) add(t *thing, text string) *thing {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.note(t, text)
	j.things = append(j.things, t)
	return t
}

// note writes a line about a thing; the lock is held.
func (j *journal) note(t *thing, text string) {
	j.order++
	t.cycle, t.order = j.cycle, j.order
	t.lines = append(t.lines, line{j.cycle, time.Since(j.began), text})
}

// begin notes, before it is sent, what a write will turn around: what works is to be
// ended, what does not is to be made.
func (j *journal) begin(what string, things ...*thing) *attempt {
	j.mu.Lock()
	defer j.mu.Unlock()
	a := &attempt{what: what, things: things}
	for _, t := range things {
		t.pending = a
		j.note(t, what+": asked")
	}
	return a
}

// acknowledge notes that the write has happened.
func (j *journal) acknowledge(a *attempt) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.of(a.what).acknowledged++
	for _, t := range a.things {
		t.ended, t.pending = !t.ended, nil
		j.note(t, a.what+": acknowledged")
	}
	if a.then != nil {
		a.then()
	}
}

// beginApart is begin for what is several writes, of which a kill may leave some.
func (j *journal) beginApart(what string, things ...*thing) *attempt {
	a := j.begin(what, things...)
	a.apart = true
	return a
}

// lose notes a write whose answer did not come and whose outcome nobody will ever see.
func (j *journal) lose(what string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.of(what).unseen++
}

// lasts notes that a thing works until then, and not after.
func (j *journal) lasts(t *thing, until time.Time) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if t.until.IsZero() || until.Before(t.until) {
		t.until = until
	}
	j.note(t, "works until "+t.until.Format(time.TimeOnly))
}

// forget notes that nobody can know any more whether things work.
func (j *journal) forget(things ...*thing) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, t := range things {
		t.forgotten, t.pending = true, nil
		j.note(t, "what becomes of it now is not to be seen")
	}
}

// edge is the time before its end in which a thing is not asked about: the server's clock begins a
// little before the answer.
const edge = 3 * time.Second

// ends reports whether a thing must not work now; unsure if that is too close to call.
func (t *thing) ends(now time.Time) (over, unsure bool) {
	left := t.until.Sub(now)
	switch {
	case t.ended || t.until.IsZero():
		return t.ended, false
	case left.Abs() < edge:
		return false, true
	}
	return left < 0, false
}

// violated notes a broken word and the lines that prove it.
func (j *journal) violated(t *thing, format string, args ...any) {
	j.mu.Lock()
	defer j.mu.Unlock()
	text := fmt.Sprintf("cycle %d: ", j.cycle) + fmt.Sprintf(format, args...)
	if t != nil {
		text += "\n  " + t.story()
	}
	j.violations = append(j.violations, text)
}

func (j *journal) writeFile(path string) error {
	var out strings.Builder
	for _, t := range j.things {
		fmt.Fprintln(&out, t.story())
	}
	return os.WriteFile(path, []byte(out.String()), 0o600)
}
