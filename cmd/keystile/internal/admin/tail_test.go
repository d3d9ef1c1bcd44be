package admin

import (
	"bytes"
	"context"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/keystile/keystile/cmd/keystile/internal/cli"
	"github.com/keystile/keystile/storage/event"
)

// printed holds what a command has printed and nobody has taken yet.
type printed struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (p *printed) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.text.Write(b)
}

func (p *printed) take() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	defer p.text.Reset()
	return p.text.String()
}

func TestTailFollowsWhatIsNoted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newOffice(t)
		o.notes(600)
		ctx, stop := context.WithCancel(t.Context())
		var out printed
		ended := make(chan error, 1)
		go func() {
			call := cli.Call{Stdout: &out}
			ended <- follow(ctx, call, near{o.target.Store}, event.Query{Status: "3xx"}, 0)
		}()
		synctest.Wait()
		shown := func() (n int) {
			for i, line := range strings.Split(strings.TrimSpace(out.take()), "\n") {
				if n = i + 1; !strings.Contains(line, "  301  ") && !strings.Contains(line, "  300  ") {
					t.Errorf("it shows %q", line)
				}
			}
			return n
		}
		if n := shown(); n != 150 { // more than one page of the trail
			t.Errorf("of what is there it shows %d, want 150", n)
		}
		o.notes(8)
		synctest.Wait()
		if text := out.take(); text != "" {
			t.Errorf("before its next look it shows %q", text)
		}
		time.Sleep(tailEvery)
		synctest.Wait()
		if n := shown(); n != 2 {
			t.Errorf("of what came it shows %d, want 2", n)
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		if text := out.take(); text != "" {
			t.Errorf("it shows again %q", text)
		}
		stop()
		if err := <-ended; err != nil {
			t.Errorf("ended by its user it says %v", err)
		}
	})
}
