package stream

import (
	"context"
	"fmt"
	"io"
)

// Writer is a Target that writes lines to a pipe or a file, such as standard output. The reader keeps
// the lines: a Writer knows only that they were taken.
type Writer struct {
	name string
	w    io.Writer
	turn chan state // holds the state while nobody writes
}

// state says what the last Write has left behind.
type state struct {
	torn bool // a line without its end
}

// NewWriter makes a Writer; name is that of the Target.
func NewWriter(name string, w io.Writer) *Writer {
	t := &Writer{name: name, w: w, turn: make(chan state, 1)}
	t.turn <- state{}
	return t
}

// Name returns the name.
func (t *Writer) Name() string { return t.name }

// Put writes the lines. A reader that stands still keeps it waiting, until ctx ends; the lines may still be
// written then, when it reads on. A line that was cut short is ended before the next one begins.
func (t *Writer) Put(ctx context.Context, b Batch) error {
	var last state
	select {
	case last = <-t.turn:
	case <-ctx.Done():
		return fmt.Errorf("%s is not read: %w", t.name, ctx.Err())
	}
	lines := append([]byte(nil), b.Lines...) // they are the Batch's, and this may take longer
	if last.torn {
		lines = append([]byte{'\n'}, lines...)
	}
	done := make(chan error, 1)
	go func() {
		n, err := t.w.Write(lines)
		if n < len(lines) && err == nil {
			err = io.ErrShortWrite
		}
		switch {
		case err == nil:
			last.torn = false
		case n > 0:
			last.torn = lines[n-1] != '\n'
		}
		done <- err
		t.turn <- last
	}()
	select {
	case err := <-done:
		if err != nil {
			err = fmt.Errorf("write to %s: %w", t.name, err)
		}
		return err
	case <-ctx.Done():
		return fmt.Errorf("%s is not read: %w", t.name, ctx.Err())
	}
}
