package resp

import (
	"errors"
	"os"
	"time"
)

// watchAfter bounds how long nobody reads while nobody waits for an answer.
const watchAfter = 50 * time.Millisecond

// Each caller that finds nobody reading reads the answers to what it has written: it is woken by the network, and by no
// other goroutine, which is a third of what a command costs on one machine. If others wait by then, the goroutine that
// watches goes on. That one also reads while nobody asks for anything, so that the end of a connection is noticed
// at once and not by the next caller.

// await reads the answers to what a caller has written, until a time.
func (c *Conn) await(by time.Time, k *call, own *batch) ([]Value, error) {
	err := c.nc.SetReadDeadline(by)
	if err == nil {
		_, err = c.in.in.Peek(1)
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		c.yours <- struct{}{} // they may come later
		c.doubt()
		return nil, os.ErrDeadlineExceeded
	}
	if err == nil {
		// An answer that stops in the middle ends the connection: what has been read of it is gone.
		err = own.read(c.in)
	}
	if err != nil {
		c.fail(err)
	} else if c.answered(own) {
		c.yours <- struct{}{}
	}
	<-k.done
	return k.answers, k.err
}

// watch reads whenever no caller does, and hands out the answers, until the connection is over.
func (c *Conn) watch() {
	for c.mine() {
		err := c.nc.SetReadDeadline(time.Time{})
		for more := true; more && err == nil; {
			more, err = c.one()
		}
		if err != nil {
			c.fail(err)
		}
	}
}

// mine waits until the goroutine that watches has to read. It is false when the connection is over.
func (c *Conn) mine() bool {
	idle := time.NewTimer(watchAfter)
	defer idle.Stop()
	for {
		select {
		case <-c.ended:
			return false
		case <-c.yours:
			return true
		case <-idle.C:
			if c.begin() {
				return true
			}
			idle.Reset(watchAfter)
		}
	}
}

// begin begins to read, unless somebody does.
func (c *Conn) begin() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.reading || c.err != nil {
		return false
	}
	c.reading = true
	return true
}

// one hands out the answers to the oldest write. It reports whether more are waited for.
func (c *Conn) one() (more bool, err error) {
	if _, err := c.in.in.Peek(1); err != nil {
		return false, err
	}
	b := c.first()
	if b == nil {
		return false, errUnasked
	}
	if err := b.read(c.in); err != nil {
		return false, err
	}
	return c.answered(b), nil
}
