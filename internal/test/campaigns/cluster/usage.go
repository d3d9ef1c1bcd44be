package main

import (
	"encoding/json"
	"net/http"
	"net/url"
	"sync/atomic"
	"time"
)

// charged makes calls that are charged, and knows how many were sent and how many answered in full. The
// count must lie in between, and come to that at last.
type charged struct {
	*actor
	bearer         string
	sent, answered *atomic.Int64
}

func (c *charged) step() {
	if c.bearer == "" {
		if app := c.makeApp(c.node(), "Caller", "enterprise"); app != nil {
			c.bearer, _ = c.machine(c.way(), *app)
		}
		return
	}
	c.sent.Add(1)
	a := c.get(c.way(), "/api/v1/verify?product=ai", "Authorization", "Bearer "+c.bearer)
	switch {
	case a.unknown:
		c.lostSight("charged call")
	case a.status != http.StatusOK:
		c.violated("a call is answered %v", a)
	default:
		c.answered.Add(1)
		c.did("charged call")
	}
}

// counts is the time within which all nodes have handed what they counted to their database.
const counts = 15 * time.Second

// reckon compares what is counted with what was sent and answered, when everything works again and
// nobody calls any more.
func (c *charged) reckon() {
	if c.bearer == "" {
		return
	}
	var counted int64
	sent, answered := c.sent.Load(), c.answered.Load()
	for end := time.Now().Add(counts); time.Now().Before(end); time.Sleep(200 * time.Millisecond) {
		if counted = c.count(); counted >= answered {
			break
		}
	}
	if counted < answered || counted > sent {
		c.violated("of %d charged calls %d were answered, and %d are counted", sent, answered, counted)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ledger = [3]int64{c.ledger[0] + answered, c.ledger[1] + counted, c.ledger[2] + sent}
}

// count asks for all usage there is.
func (c *charged) count() int64 {
	now := time.Now().UTC()
	span := url.Values{"from": {now.AddDate(0, 0, -2).Format(time.DateOnly)},
		"to": {now.AddDate(0, 0, 2).Format(time.DateOnly)}}
	a := c.get(c.way(), "/api/v1/usage?"+span.Encode(), "Authorization", "Bearer "+c.bearer)
	var usage struct {
		Data struct{ Totals map[string]int64 }
	}
	if json.Unmarshal(a.body, &usage) != nil || a.status != http.StatusOK {
		c.violated("usage is answered %v", a)
	}
	return usage.Data.Totals["ai"]
}
