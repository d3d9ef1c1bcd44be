package storagetest

import (
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/keystile/keystile/storage/driver"
)

// Broken tries the promises whose "chapter/name" begins with path, as Run and RunDurable do,
// and returns what the first broken one said; "" if all of them hold. Those of RunDurable are
// the chapter "reopening". A promise that is not done in time is a broken one. It fails no test,
// except where no promise has such a name.
//
// It is there for lists of bugs that the contract must see: package planted has one.
func Broken(t *testing.T, path string, patience time.Duration,
	open func(t *testing.T, dir string) driver.Backend) string {
	t.Helper()
	tried := 0
	for _, c := range append(contract(), reopening()) {
		for _, p := range c.promises {
			name := c.about + "/" + p.name
			if !strings.HasPrefix(name, path) {
				continue
			}
			tried++
			dir := t.TempDir()
			if said := p.try(t, patience, func() driver.Backend { return open(t, dir) }); said != "" {
				return name + ": " + said
			}
		}
	}
	if tried == 0 {
		t.Errorf("no promise is called %q", path)
	}
	return ""
}

// try holds a Backend to a promise, and returns what is wrong with it. A promise that is not done in
// time opens nothing more; the test waits for its end behind what its own cleanups let go of.
func (p promise) try(t *testing.T, patience time.Duration, open func() driver.Backend) string {
	notes := &notes{TB: t}
	done := make(chan struct{})
	var late atomic.Bool
	t.Cleanup(func() {
		if late.Load() {
			<-done
		}
	})
	go func() {
		defer close(done)
		defer func() {
			if trouble := recover(); trouble != nil {
				notes.Errorf("panic: %v", trouble)
			}
		}()
		p.hold(notes, func() driver.Backend {
			if late.Load() {
				runtime.Goexit()
			}
			return open()
		})
	}()
	limit := time.NewTimer(patience)
	defer limit.Stop()
	select {
	case <-done:
	case <-limit.C:
		late.Store(true)
		notes.Errorf("it is not done after %v", patience)
	}
	return notes.first()
}

// notes is a test that writes down how it failed, and fails nothing.
type notes struct {
	testing.TB
	mu   sync.Mutex
	said []string
}

func (n *notes) first() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.said) == 0 {
		return ""
	}
	return n.said[0]
}

func (n *notes) note(said string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.said = append(n.said, said)
}

// Helper does nothing: the places of these failures are not printed.
func (n *notes) Helper() {}

func (n *notes) Failed() bool                      { return n.first() != "" }
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
