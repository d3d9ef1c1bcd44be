package ledger

import (
	"errors"
	"fmt"
	"sync"
)

// Health returns what is wrong, nil if nothing is: a journal that cannot be written (calls
// are counted, and a kill would lose those of the outage), a store that does not answer
// (usage waits for it). Both mend by themselves when their cause is gone.
func (l *Ledger) Health() error {
	var trouble []error
	if err := l.disk.get(); err != nil {
		trouble = append(trouble, fmt.Errorf("ledger: the usage journal cannot be written: %w", err))
	}
	if err := l.away.get(); err != nil {
		trouble = append(trouble, fmt.Errorf("ledger: the store does not count: %w", err))
	}
	return errors.Join(trouble...)
}

func (l *Ledger) setDisk(err error) error {
	if l.disk.turns(err) {
		if err != nil {
			l.log.Error("ledger: the usage journal cannot be written; calls are counted in memory only until it can: see to "+
				"the disk", "err", err)
		} else {
			l.log.Info("ledger: the usage journal is whole again")
		}
	}
	return err
}

func (l *Ledger) setStore(err error) {
	if l.away.turns(err) {
		if err != nil {
			l.log.Error("ledger: the store does not count usage; it waits here, see to the store", "err", err)
		} else {
			l.log.Info("ledger: the store counts usage again")
		}
	}
}

// condition is good (nil), or bad for a reason.
type condition struct {
	mu  sync.Mutex
	err error
}

// turns keeps the state and reports whether it went from good to bad or back.
func (c *condition) turns(err error) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	turned := (err == nil) != (c.err == nil)
	c.err = err
	return turned
}

func (c *condition) get() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}
