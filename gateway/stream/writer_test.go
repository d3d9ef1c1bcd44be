package stream_test

import (
	"context"
	"errors"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/keystile/keystile/gateway/stream"
)

// pipe is a writer that takes so many bytes, and then stands still or fails.
type pipe struct {
	mu    sync.Mutex
	text  strings.Builder
	room  int           // bytes until it fails; -1: any number
	stuck chan struct{} // writes wait until it is closed; nil: they do not
}

func (p *pipe) Write(b []byte) (int, error) {
	if p.stuck != nil {
		<-p.stuck
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.room >= 0 && len(b) > p.room {
		n, _ := p.text.Write(b[:p.room])
		p.room = 0
		return n, io.ErrClosedPipe
	}
	if p.room > 0 {
		p.room -= len(b)
	}
	return p.text.Write(b)
}

func TestLineThatWasCutShortIsEndedBeforeTheNext(t *testing.T) {
	b := stream.Batch{Lines: []byte("{\"seq\":1}\n{\"seq\":2}\n")}
	for room, want := range map[int]string{
		0:  "{\"seq\":1}\n{\"seq\":2}\n",
		4:  "{\"se\n{\"seq\":1}\n{\"seq\":2}\n",
		10: "{\"seq\":1}\n{\"seq\":1}\n{\"seq\":2}\n",
		13: "{\"seq\":1}\n{\"s\n{\"seq\":1}\n{\"seq\":2}\n",
	} {
		p := &pipe{room: room}
		w := stream.NewWriter("pipe", p)
		for range 2 {
			if err := w.Put(t.Context(), b); !errors.Is(err, io.ErrClosedPipe) {
				t.Errorf("room for %d: %v", room, err)
			}
		}
		p.room = -1
		if err := w.Put(t.Context(), b); err != nil || p.text.String() != want {
			t.Errorf("room for %d makes %q, want %q (%v)", room, p.text.String(), want, err)
		}
	}
}

func TestReaderThatStandsStillHoldsUpNobodyForLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &pipe{room: -1, stuck: make(chan struct{})}
		w := stream.NewWriter("pipe", p)
		lines := []byte("{\"seq\":1}\n")
		for range 2 {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			if err := w.Put(ctx, stream.Batch{Lines: lines}); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("it says %v", err)
			}
			cancel()
			copy(lines, "XXXXXXXXX") // they are the caller's again
		}
		close(p.stuck)
		synctest.Wait()
		if got := p.text.String(); got != "{\"seq\":1}\n" {
			t.Errorf("what waited is written as %q", got)
		}
		if err := w.Put(t.Context(), stream.Batch{Lines: []byte("{\"seq\":2}\n")}); err != nil {
			t.Error(err)
		}
	})
}
