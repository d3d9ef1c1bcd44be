package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"sync"
	"sync/atomic"
	"time"
)

const callers = 4

// caller makes calls that are charged, several at once. It knows how many were sent and
// how many answered in full; the ledger must lie in between, life by life.
type caller struct {
	bearer         string
	sent, answered atomic.Int64 // in this life
	counted        int64        // by the ledger, up to this life

	all struct{ sent, answered, counted int64 } // of the lives that were checked
}

func (c *caller) work(l *life) {
	if c.bearer == "" && c.begin(l) != nil {
		return
	}
	var calling sync.WaitGroup
	for range callers {
		calling.Go(func() {
			for l.alive() {
				c.sent.Add(1)
				a, err := l.get("/api/v1/verify?product=ai", "Authorization", "Bearer "+c.bearer)
				if err != nil {
					return
				}
				if a.status != http.StatusOK {
					l.journal.violated(nil, "a call is answered %v", a)
					return
				}
				c.answered.Add(1)
				time.Sleep(time.Millisecond) // the others want to get on too
			}
		})
	}
	calling.Wait()
}

// begin makes an application of the caller's own: nobody else is to be counted with it.
func (c *caller) begin(l *life) error {
	app, err := l.makeApp("Caller", "enterprise")
	if err == nil {
		c.bearer, err = l.machine(app)
	}
	return err
}

func (c *caller) check(l *life) error { return c.reckon(l, false) }

// reckon holds what the ledger has counted in the last life against what the caller knows.
// With nothing in flight at its end, exactly says so, the two are equal.
func (c *caller) reckon(l *life, exactly bool) error {
	if c.bearer == "" {
		return nil
	}
	counted, err := c.count(l)
	if err != nil {
		return err
	}
	sent, answered, now := c.sent.Swap(0), c.answered.Swap(0), counted-c.counted
	for end := time.Now().Add(reported); l.shared && now < answered && time.Now().Before(end); now = counted - c.counted {
		time.Sleep(100 * time.Millisecond)
		if counted, err = c.count(l); err != nil {
			return err
		}
	}
	c.counted = counted
	c.all.sent, c.all.answered, c.all.counted = c.all.sent+sent, c.all.answered+answered, c.all.counted+now
	if now < answered || now > sent || exactly && now != answered {
		l.journal.violated(nil, "of %d calls %d were answered, and %d are counted", sent, answered, now)
	}
	return nil
}

// reported is the time within which all servers have handed what they counted to their database.
const reported = 10 * time.Second

// count asks for all usage there is.
func (c *caller) count(l *life) (int64, error) {
	now := time.Now().UTC()
	span := url.Values{"from": {now.AddDate(0, 0, -2).Format(time.DateOnly)},
		"to": {now.AddDate(0, 0, 2).Format(time.DateOnly)}}
	a, err := l.get("/api/v1/usage?"+span.Encode(), "Authorization", "Bearer "+c.bearer)
	if err != nil {
		return 0, err
	}
	var usage struct {
		Data struct{ Totals map[string]int64 }
	}
	if err := json.Unmarshal(a.body, &usage); err != nil || a.status != http.StatusOK {
		return 0, fmt.Errorf("usage is answered %v", a)
	}
	return usage.Data.Totals["ai"], nil
}
