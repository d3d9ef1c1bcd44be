package streams

import (
	"context"
	"sync/atomic"

	"github.com/keystile/keystile/internal/reqctx"
)

// life is the context of a request that can be ended. It is its parent until somebody waits for its end.
type life struct {
	context.Context // the parent

	own atomic.Pointer[cancelled]
}

type cancelled struct {
	context.Context
	cancel context.CancelCauseFunc
}

func (l *life) made() *cancelled {
	if own := l.own.Load(); own != nil {
		return own
	}
	own := new(cancelled)
	own.Context, own.cancel = context.WithCancelCause(l.Context)
	if !l.own.CompareAndSwap(nil, own) { // the watcher was first
		own.cancel(context.Canceled)
	}
	return l.own.Load()
}

// Done returns a channel of its own: whoever asks for it waits.
func (l *life) Done() <-chan struct{} { return l.made().Done() }

func (l *life) Err() error {
	if own := l.own.Load(); own != nil {
		return own.Err()
	}
	return l.Context.Err()
}

// Value finds in the context of its own what package context finds the cause by.
func (l *life) Value(key any) any {
	if own := l.own.Load(); own != nil {
		return own.Value(key)
	}
	return l.Context.Value(key)
}

func (l *life) end() { l.made().cancel(reqctx.ErrEnded) }

// over lets go of the parent.
func (l *life) over() {
	if own := l.own.Load(); own != nil {
		own.cancel(context.Canceled)
	}
}
