package resp

import (
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"sync"
	"time"
)

var (
	// ErrClosed says that a connection was closed here.
	ErrClosed = errors.New("resp: the connection is closed")
	// ErrFull says that more callers wait than any server answers in time.
	ErrFull = fmt.Errorf("resp: too many commands wait for their answers: %w", os.ErrDeadlineExceeded)

	errUnasked = errors.New("resp: something came that nobody asked for; is this Redis, or a proxy with errors of its " +
		"own?")
	errStep   = errors.New("resp: answers come out of step with the commands")
	errSilent = fmt.Errorf("resp: no answer comes any more: %w", os.ErrDeadlineExceeded)
)

// waitingMost bounds the commands that wait for answers.
const waitingMost = 4096

// Conn is a connection that many callers share. It is over after the first error of the connection, which each
// caller gets that waits, and each that comes later.
type Conn struct {
	nc       net.Conn
	in       *reader
	patience time.Duration // a server that leaves a command without an answer for so long is given up

	yours chan struct{} // hands the reading to the goroutine that watches; see reading
	ended chan struct{} // closed when it is over

	mu      sync.Mutex
	reading bool     // somebody reads, or is about to: a caller for its own write, else the goroutine that watches
	number  uint64   // of the last write
	next    *batch   // what has not been written yet; nil: nothing
	written []*batch // what waits for answers, the oldest first
	waiting int      // commands in all of them
	writing bool
	out     []byte // what was written last, to be used again
	err     error  // why it is over
}

func newConn(nc net.Conn, in *reader, patience time.Duration) *Conn {
	c := &Conn{nc: nc, in: in, patience: patience, yours: make(chan struct{}, 1), ended: make(chan struct{})}
	go c.watch()
	return c
}

// Do sends a command and waits for its answer, until a time. A Failure is returned as an Error. A command whose
// answer does not come in time may have been done, or may be done later.
func (c *Conn) Do(by time.Time, command ...string) (Value, error) {
	answers, err := c.All(by, command)
	if err != nil {
		return Value{}, err
	}
	return answers[0], answers[0].Err()
}

// All sends commands, one right after the other, and waits for the answers to all of them, until a time.
func (c *Conn) All(by time.Time, commands ...Command) ([]Value, error) {
	k := &call{done: make(chan struct{})}
	if k.answers = k.one[:]; len(commands) != 1 {
		k.answers = make([]Value, len(commands))
	}
	own, err := c.send(by, k, commands)
	switch {
	case err != nil:
		return nil, err
	case own != nil:
		return c.await(by, k, own)
	}
	late := time.NewTimer(time.Until(by))
	defer late.Stop()
	select {
	case <-k.done:
		return k.answers, k.err
	case <-late.C:
		c.doubt()
		return nil, os.ErrDeadlineExceeded
	}
}

// Err returns why the connection is over; nil while it is not.
func (c *Conn) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}

// Close ends the connection.
func (c *Conn) Close() { c.fail(ErrClosed) }

// send writes commands, or leaves them to the caller that is writing. It returns what it has written if the caller
// has to read the answers.
func (c *Conn) send(by time.Time, k *call, commands []Command) (own *batch, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.err != nil:
		return nil, c.err
	case c.waiting+len(commands) > waitingMost:
		return nil, ErrFull
	}
	if c.next == nil {
		c.next = &batch{began: time.Now(), out: c.out[:0]}
		c.out = nil
	}
	for _, command := range commands {
		c.next.out = command.append(c.next.out)
	}
	c.next.calls = append(c.next.calls, k)
	c.waiting += len(commands)
	if c.writing {
		return nil, nil
	}
	if own = c.write(by); c.next != nil && c.err == nil {
		c.writing = true
		go c.writeOn()
	}
	return own, nil
}

// writeOn writes what has come while something else was written.
func (c *Conn) writeOn() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for c.next != nil && c.err == nil {
		if c.write(time.Now().Add(c.patience)) != nil {
			c.yours <- struct{}{}
		}
	}
	c.writing = false
}

// write writes what there is, in one piece, while c.mu is not held. A write that lasts beyond its deadline ends the
// connection, because no one knows how much of it has gone out. It returns what it has written if no caller reads
// the answers yet: its caller has to read them.
func (c *Conn) write(by time.Time) (unread *batch) {
	b := c.next
	c.number++
	b.mark = strconv.FormatUint(c.number, 36)
	b.out = Command{"PING", b.mark}.append(b.out)
	c.next, c.writing = nil, true
	c.written = append(c.written, b)
	if !c.reading {
		c.reading, unread = true, b
	}
	out := b.out
	b.out = nil
	c.mu.Unlock()
	err := c.nc.SetWriteDeadline(by)
	if err == nil {
		_, err = c.nc.Write(out)
	}
	c.mu.Lock()
	c.writing = false
	if cap(out) <= lineMost {
		c.out = out
	}
	if err != nil {
		c.over(err)
	}
	return unread
}

// first returns the oldest batch that waits.
func (c *Conn) first() *batch {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.written) == 0 {
		return nil
	}
	return c.written[0]
}

// answered wakes those whose answers have come. It reports whether the caller has to go on reading.
func (c *Conn) answered(b *batch) (more bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil {
		return false // they have been told that
	}
	c.written[0] = nil
	c.written = c.written[1:]
	for _, k := range b.calls {
		c.waiting -= len(k.answers)
		close(k.done)
	}
	c.reading = len(c.written) > 0
	return c.reading
}

// doubt ends a connection whose server has not answered for long.
func (c *Conn) doubt() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.written) > 0 && time.Since(c.written[0].began) > c.patience {
		c.over(errSilent)
	}
}

func (c *Conn) fail(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.over(err)
}

// over ends the connection, and tells it to all who wait.
func (c *Conn) over(err error) {
	if c.err != nil {
		return
	}
	c.err = err
	close(c.ended)
	c.nc.Close()
	if c.next != nil {
		c.written = append(c.written, c.next)
	}
	for _, b := range c.written {
		for _, k := range b.calls {
			k.err = err
			close(k.done)
		}
	}
	c.written, c.next = nil, nil
}
