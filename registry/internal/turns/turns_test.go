package turns

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/keystile/keystile/internal/reply"
)

const maxReading = 4

// asked takes a turn in the background.
type asked struct {
	leave func()
	err   error
	ended atomic.Bool
}

func (a *asked) over() bool { return a.ended.Load() }
func (a *asked) in() bool   { return a.over() && a.err == nil }

func ask(ctx context.Context, from *Turns, user string) *asked {
	a := new(asked)
	go func() { a.leave, a.err = from.Take(ctx, user); a.ended.Store(true) }()
	synctest.Wait()
	return a
}

func (a *asked) status() int {
	var f *reply.Failure
	if !a.over() || !errors.As(a.err, &f) || f.Header.Get("Retry-After") != "10" {
		return 0
	}
	return f.Status
}

func TestUserWaitsForTheirOwnDocumentAndKeepsNobodyOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		all := &Turns{Most: maxReading, MostOfOne: 1}
		first := ask(t.Context(), all, "mina")
		second, third := ask(t.Context(), all, "mina"), ask(t.Context(), all, "mina")
		for i := range maxReading - 1 {
			if other := ask(t.Context(), all, fmt.Sprint("other", i)); !other.in() {
				t.Errorf("user %d waits for mina", i)
			}
		}
		late := ask(t.Context(), all, "one too many")
		if !first.in() || second.over() || late.over() {
			t.Errorf("let in: %t, %t, %t, want one of mina and four in all", first.in(), second.over(), late.over())
		}
		first.leave()
		synctest.Wait()
		if !second.in() || third.over() || late.over() {
			t.Errorf("let in: %t, %t, %t, want the next in order", second.in(), third.over(), late.over())
		}
		time.Sleep(turnWait)
		synctest.Wait()
		if third.status() != 429 || late.status() != 503 {
			t.Errorf("after ten seconds: %v, %v, want 429 and 503 with Retry-After", third.err, late.err)
		}
	})
}

func TestQueueOfDocumentsIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		all := &Turns{Most: maxReading, MostOfOne: 1}
		first := ask(t.Context(), all, "mina")
		ctx, cancel := context.WithCancel(t.Context())
		for range maxOwnerWaiting {
			ask(ctx, all, "mina")
		}
		if over := ask(ctx, all, "mina"); over.status() != 429 {
			t.Errorf("one more than may wait: %v, want 429 at once", over.err)
		}
		if other := ask(ctx, all, "omar"); !other.in() {
			t.Error("another user waits")
		}
		cancel()
		synctest.Wait()
		first.leave()
		if again := ask(t.Context(), all, "mina"); !again.in() || len(all.waiting) > 0 {
			t.Errorf("after all have gone one waits: %t, and %d more", !again.in(), len(all.waiting))
		}
	})
}
