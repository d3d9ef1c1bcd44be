package countertest

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
)

// Broken tries the promises whose "chapter/name" begins with path, as Run does, or as RunInBubble does if
// they have bubbles, and returns what the first broken one said; "" if all of them hold. It fails no test,
// except where no promise has such a name or none of them can be tried.
//
// It is there for lists of bugs that the contract must see: package planted has one.
func Broken(t *testing.T, path string, bubbles bool, open func(t testing.TB) Service) string {
	t.Helper()
	in := surroundings(plainly)
	if bubbles {
		in = inBubble
	}
	tried, skipped := 0, ""
	var s Service
	in(t, func(t *testing.T, bubble Clock) { s = opened(t, bubble, open) })
	for _, c := range slices.Concat(contract(false), contract(true)) {
		for _, p := range c.promises {
			name := c.about + "/" + p.name
			if !strings.HasPrefix(name, path) {
				continue
			}
			if skipped = p.lacks(s); skipped != "" {
				continue
			}
			said := &notes{TB: t}
			in(t, func(t *testing.T, bubble Clock) { said.listen(t, func(t testing.TB) { p.hold(t, bubble, open) }) })
			if len(said.failures) > 0 {
				return name + ": " + said.failures[0]
			}
			tried++
		}
	}
	switch {
	case tried == 0 && skipped != "":
		t.Skip(skipped)
	case tried == 0:
		t.Errorf("no promise is called %q", path)
	}
	return ""
}

// notes is a test that writes down how it failed, and fails nothing.
type notes struct {
	testing.TB
	mu       sync.Mutex
	failures []string
}

// listen runs a test to its end.
func (n *notes) listen(t *testing.T, test func(t testing.TB)) {
	n.TB = t
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer func() {
			if trouble := recover(); trouble != nil {
				n.Errorf("panic: %v", trouble)
			}
		}()
		test(n)
	}()
	<-done
}

func (n *notes) note(said string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.failures = append(n.failures, said)
}

// Helper does nothing: the places of these failures are not printed.
func (n *notes) Helper() {}

func (n *notes) Failed() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return len(n.failures) > 0
}

func (n *notes) Log(args ...any)                   {}
func (n *notes) Logf(format string, args ...any)   {}
func (n *notes) Fail()                             { n.note("failed") }
func (n *notes) Error(args ...any)                 { n.note(fmt.Sprint(args...)) }
func (n *notes) Errorf(format string, args ...any) { n.note(fmt.Sprintf(format, args...)) }

// FailNow, Fatal and Fatalf end the goroutine of the promise, as those of a test do.
func (n *notes) FailNow() {
	n.Fail()
	runtime.Goexit()
}

func (n *notes) Fatal(args ...any) {
	n.Error(args...)
	runtime.Goexit()
}

func (n *notes) Fatalf(format string, args ...any) {
	n.Errorf(format, args...)
	runtime.Goexit()
}
