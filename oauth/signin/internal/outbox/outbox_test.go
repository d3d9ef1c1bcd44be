package outbox

import (
	"context"
	"log/slog"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

func TestSoManyMailsAreSentAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := New(t.Context(), slog.New(slog.DiscardHandler))
		var now, most, all atomic.Int32
		for range 20 {
			o.Reserve()
			o.Put(func(context.Context) error {
				most.Store(max(most.Load(), now.Add(1)))
				time.Sleep(time.Second)
				now.Add(-1)
				all.Add(1)
				return nil
			})
		}
		if err := o.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		if most.Load() != Workers || all.Load() != 20 {
			t.Errorf("%d at once and %d in all, want %d and 20", most.Load(), all.Load(), Workers)
		}
	})
}
