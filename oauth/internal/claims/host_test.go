package claims

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// A function that never returns keeps a place and a goroutine, so there is a bound on both.
func TestCallsThatNeverReturnDoNotPileUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, begun, over := NewHost(), new(atomic.Int64), make(chan struct{})
		hangs := func(context.Context) (map[string]any, error) {
			begun.Add(1)
			<-over
			return nil, nil
		}
		for range 3 * hostCalls {
			go h.Ask(t.Context(), hangs)
		}
		time.Sleep(hostTime)
		synctest.Wait()
		if n := begun.Load(); n != hostCalls {
			t.Errorf("%d calls are under way, want %d", n, hostCalls)
		}
		at := time.Now()
		if all, failure := h.Ask(t.Context(), hangs); all != nil || failure != errBusy || time.Since(at) != 0 {
			t.Errorf("one more is answered with %v, %v after %v", all, failure, time.Since(at))
		}
		limited, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := h.Close(limited); err == nil || !strings.Contains(err.Error(), "Config.Claims has not returned") {
			t.Errorf("closing while they are under way: %v", err)
		}
		close(over)
		synctest.Wait()
		if err := h.Close(t.Context()); err != nil {
			t.Errorf("closing afterwards: %v", err)
		}
	})
}

func TestPlaceOfACallThatReturnsIsFreeAgain(t *testing.T) {
	h := NewHost()
	for what, call := range map[string]func(context.Context) (map[string]any, error){
		"returns": func(context.Context) (map[string]any, error) { return map[string]any{"a": 1}, nil },
		"panics":  func(context.Context) (map[string]any, error) { panic("on purpose") },
	} {
		for range 2 * hostCalls {
			if _, failure := h.Ask(t.Context(), call); failure == errBusy {
				t.Fatalf("%s: there is no place left", what)
			}
		}
	}
	if err := h.Close(t.Context()); err != nil {
		t.Error(err)
	}
}

// A client that has gone is no failure of the function, which was told to end.
func TestRequestThatIsOverIsNoFailureOfTheHost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := NewHost()
		for _, minds := range []bool{true, false} {
			ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
			all, failure := h.Ask(ctx, func(ctx context.Context) (map[string]any, error) {
				if minds {
					<-ctx.Done()
					return nil, ctx.Err()
				}
				time.Sleep(time.Hour)
				return nil, nil
			})
			if cancel(); all != nil || failure != nil {
				t.Errorf("minds its context %t: %v, %v", minds, all, failure)
			}
		}
		time.Sleep(time.Hour)
	})
}
