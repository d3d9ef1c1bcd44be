// Package said collects what a program writes, and lets a test wait for a text in it.
package said

import (
	"bytes"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"
)

// Output collects what a program writes. Make it with New.
type Output struct {
	mu    sync.Mutex
	text  bytes.Buffer
	grown chan struct{} // closed and replaced at each write
}

// New returns an Output that has nothing yet.
func New() *Output { return &Output{grown: make(chan struct{})} }

func (o *Output) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	close(o.grown)
	o.grown = make(chan struct{})
	return o.text.Write(b)
}

// String returns all that was written.
func (o *Output) String() string { text, _ := o.Now(); return text }

// Now returns all that was written, and what is closed when more is.
func (o *Output) Now() (string, <-chan struct{}) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String(), o.grown
}

// Find waits for a text that matches and returns its last group. It gives up when ended is, and after
// a minute, so that a text that was changed does not hold up all other tests.
func (o *Output) Find(t testing.TB, ended <-chan struct{}, pattern string) string {
	t.Helper()
	re, late := regexp.MustCompile(pattern), time.After(time.Minute)
	for {
		text, grown := o.Now()
		if found := re.FindStringSubmatch(text); found != nil {
			return found[len(found)-1]
		}
		select {
		case <-grown:
		case <-ended:
			t.Fatalf("it ended without saying %q: %s", pattern, o)
		case <-late:
			t.Fatalf("it does not say %q: %s", pattern, o)
		}
	}
}

// Says reports whether a text comes before ended does.
func (o *Output) Says(ended <-chan struct{}, text string) bool {
	for {
		said, grown := o.Now()
		if strings.Contains(said, text) {
			return true
		}
		select {
		case <-grown:
		case <-ended:
			said, _ = o.Now()
			return strings.Contains(said, text)
		}
	}
}
