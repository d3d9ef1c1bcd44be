package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/keystile/keystile/internal/test/campaigns/cluster/internal/link"
)

// fault is one kind of what goes wrong. strike says what it may do to answers, before it happens; run
// makes it happen, and mends it.
type fault struct {
	name   string
	weight int
	needs  func(*site) bool
	strike func(*campaign) (w wrong, run func(context.Context) error)
}

func always(*site) bool    { return true }
func redis(s *site) bool   { return s.redis != nil }
func spaces(s *site) bool  { return s.net != nil }
func mounted(s *site) bool { return s.nodes[0].mounted }

// faults are all kinds there are.
var faults = []fault{
	{"node-kill", 3, always, (*campaign).killNode},
	{"node-pause", 2, always, (*campaign).pauseNode},
	{"node-unplug", 2, spaces, (*campaign).unplugNode},
	{"node-cut", 3, always, (*campaign).cutNode},
	{"node-slow", 2, always, (*campaign).slowNode},
	{"node-disk", 2, mounted, (*campaign).fillDisk},
	{"node-clock", 3, always, (*campaign).bendClock},
	{"failover", 5, always, (*campaign).failover},
	{"failover-late", 3, always, (*campaign).failoverLate},
	{"database-kill", 2, always, (*campaign).killDatabase},
	{"database-pause", 2, always, (*campaign).pauseDatabase},
	{"standby-kill", 2, always, (*campaign).killStandby},
	{"standby-cut", 2, always, (*campaign).cutStandby},
	{"bouncer-kill", 2, always, (*campaign).killBouncer},
	{"bouncer-pause", 1, always, (*campaign).pauseBouncer},
	{"redis-kill", 2, redis, (*campaign).killRedis},
	{"redis-pause", 2, redis, (*campaign).pauseRedis},
	{"redis-empty", 2, redis, (*campaign).emptyRedis},
	{"redis-cut", 2, redis, (*campaign).cutRedis},
	{"redis-slow", 2, redis, (*campaign).slowRedis},
	{"rolling", 2, always, (*campaign).rolling},
	{"upgrade", 1, func(s *site) bool { return s.next != "" }, (*campaign).upgrade},
}

func faultNames() string {
	var all []string
	for _, f := range faults {
		all = append(all, f.name)
	}
	return strings.Join(all, ", ")
}

// choose returns the faults that are asked for and that this machine allows.
func choose(s *site) (all []fault, err error) {
	var asked []string
	if s.faults != "" {
		asked = strings.Split(s.faults, ",")
	}
	for _, name := range asked {
		if !slices.ContainsFunc(faults, func(f fault) bool { return f.name == name }) {
			return nil, fmt.Errorf("--faults: there is no %q: there are %s", name, faultNames())
		}
	}
	for _, f := range faults {
		if f.needs(s) && (asked == nil || slices.Contains(asked, f.name)) {
			all = append(all, f)
		}
	}
	if len(all) == 0 {
		return nil, errors.New("--faults: this machine allows none of them")
	}
	return all, nil
}

// atNode makes a wrong of one node alone.
func atNode(n *node, format string, args ...any) wrong {
	return wrong{what: fmt.Sprintf(format, args...) + fmt.Sprintf(" (node %d)", n.id), excuses: true, node: n.id}
}

// atAll makes a wrong that may be noticed at every node.
func atAll(format string, args ...any) wrong {
	return wrong{what: fmt.Sprintf(format, args...), excuses: true, node: everywhere}
}

// counting makes a wrong of the counters: no request is refused for that.
func counting(format string, args ...any) wrong {
	return wrong{what: fmt.Sprintf(format, args...), counting: true, node: everywhere}
}

func (c *campaign) drawNode() *node { return c.site.nodes[c.rand.IntN(len(c.site.nodes))] }

// upTo draws a time.
func (c *campaign) upTo(d time.Duration) time.Duration { return time.Duration(c.rand.Int64N(int64(d))) }

// stretch draws how long something lasts: mostly short, at times as long as may be.
func (c *campaign) stretch() time.Duration {
	if c.rand.IntN(5) == 0 {
		return c.pause
	}
	return min(c.pause, time.Second+c.upTo(2*time.Second))
}

// hold waits while a fault lasts.
func hold(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}

func (c *campaign) killNode() (wrong, func(context.Context) error) {
	n, gone := c.drawNode(), c.upTo(time.Second)
	return atNode(n, "killed for %v", gone), func(ctx context.Context) error {
		n.Kill()
		hold(ctx, gone)
		return n.start()
	}
}

// pauseNode stops a node. It may still answer earlier requests when it goes on.
func (c *campaign) pauseNode() (wrong, func(context.Context) error) {
	n, d := c.drawNode(), c.stretch()
	return atNode(n, "stopped for %v", d), func(ctx context.Context) error {
		if err := n.Signal(syscall.SIGSTOP); err != nil {
			return err
		}
		hold(ctx, d)
		return n.Signal(syscall.SIGCONT)
	}
}

func (c *campaign) unplugNode() (wrong, func(context.Context) error) {
	n, d := c.drawNode(), c.stretch()
	return atNode(n, "unplugged for %v", d), func(ctx context.Context) error {
		if err := n.space.Plug(false); err != nil {
			return err
		}
		hold(ctx, d)
		return n.space.Plug(true)
	}
}

// cutNode cuts a node off from its database, or from its clients.
func (c *campaign) cutNode() (wrong, func(context.Context) error) {
	n, d := c.drawNode(), c.stretch()
	what, ways := "its database", []*link.Link{n.pooled, n.direct[0], n.direct[1]}
	if c.rand.IntN(3) == 0 {
		what, ways = "the balancer", []*link.Link{n.front}
	}
	state, how := link.Cut, "cut off from"
	if c.rand.IntN(2) == 0 {
		state, how = link.Silent, "hears nothing of"
	}
	return atNode(n, "%s %s for %v", how, what, d), func(ctx context.Context) error {
		set(ways, state, 0)
		hold(ctx, d)
		set(ways, link.Open, 0)
		return nil
	}
}

func set(ways []*link.Link, state link.State, delay time.Duration) {
	for _, l := range ways {
		l.Set(state, delay)
	}
}

// slowNode is no excuse: everything arrives.
func (c *campaign) slowNode() (wrong, func(context.Context) error) {
	n, d, delay := c.drawNode(), c.stretch(), 5*time.Millisecond+c.upTo(25*time.Millisecond)
	w := atNode(n, "its database answers %v later for %v", delay, d)
	w.excuses, w.slow = false, true
	return w, func(ctx context.Context) error {
		ways := []*link.Link{n.pooled, n.direct[0], n.direct[1]}
		set(ways, link.Slow, delay)
		hold(ctx, d)
		set(ways, link.Open, 0)
		return nil
	}
}

func (c *campaign) fillDisk() (wrong, func(context.Context) error) {
	n, d := c.drawNode(), c.stretch()
	return atNode(n, "its disk is full for %v", d), func(ctx context.Context) error {
		mend, err := fill(n.data)
		hold(ctx, d)
		return errors.Join(err, mend())
	}
}

// bendClock sets a node's clock to and fro, up to half a minute. Nothing may be noticed.
func (c *campaign) bendClock() (wrong, func(context.Context) error) {
	n, d, off := c.drawNode(), c.stretch(), time.Duration(c.rand.IntN(61)-30)*time.Second
	w := atNode(n, "its clock is off by %v for %v", off, d)
	w.excuses = false
	return w, func(ctx context.Context) error {
		err := n.clock.Set(off)
		hold(ctx, d)
		return errors.Join(err, n.clock.Set(0))
	}
}
