package overview

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/keystile/keystile/gateway/console/internal/system"
	"github.com/keystile/keystile/gateway/console/internal/ui"
	"github.com/keystile/keystile/gateway/usage"
	"github.com/keystile/keystile/storage"
)

const (
	summaryFresh = 15 * time.Second
	summaryWait  = 3 * time.Second // that reading it takes at most
	topNames     = 5
	readCaps     = 100 // capabilities that are looked through
	readHooks    = 5   // webhooks that are
	readClients  = 100 // agents
)

// summaryCache holds the last summary for some seconds.
type summaryCache struct {
	turn chan struct{} // held by who reads it anew

	mu   sync.Mutex
	last *summary
}

// summary holds what changes slowly, and is the same for everybody who may read the whole service.
type summary struct {
	strangers         bool // see Config.Strangers
	read              time.Time
	topApps, topTools []name
	nodes, live       int
	vitals            []system.Vital
	todo              []todo
	begun             begun
	less              bool // something could not be read
}

// of returns what was read in the last seconds, or reads it. A request that comes while another one reads it again gets
// the summary before.
func (c *summaryCache) of(ctx context.Context, now time.Time,
	read func(context.Context, time.Time) *summary) (*summary, error) {
	c.mu.Lock()
	last := c.last
	c.mu.Unlock()
	if last != nil && now.Sub(last.read) < summaryFresh && !now.Before(last.read) {
		return last, nil
	}
	if last != nil {
		select {
		case c.turn <- struct{}{}:
		default:
			return last, nil
		}
	} else {
		select {
		case c.turn <- struct{}{}:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		c.mu.Lock()
		last = c.last
		c.mu.Unlock()
		if last != nil { // somebody else was first
			<-c.turn
			return last, nil
		}
	}
	defer func() { <-c.turn }()
	bound, cancel := context.WithTimeout(context.WithoutCancel(ctx), summaryWait) // others wait for it, too
	defer cancel()
	last = read(bound, now)
	c.mu.Lock()
	c.last = last
	c.mu.Unlock()
	return last, nil
}

// summarize reads what changes slowly.
func (s *Overview) summarize(ctx context.Context, now time.Time) *summary {
	out := &summary{read: now}
	lacks := func(err error) bool {
		out.less = out.less || err != nil
		return err != nil
	}
	out.strangers = s.c.Strangers != nil && s.c.Strangers(ctx)
	if s.c.Reader != nil {
		out.topApps = s.top(ctx, usage.Apps, now, lacks)
		out.topTools = s.top(ctx, usage.Tools, now, lacks)
	}
	if s.c.Nodes != nil {
		all, err := s.c.Nodes.List(ctx)
		lacks(err)
		out.nodes = len(all)
		for _, n := range all {
			if n.Live {
				out.live++
			}
		}
	}
	if s.c.Vitals != nil {
		out.vitals = s.c.Vitals(ctx)
		out.todo = healthWaits(out.vitals)
	}
	if s.c.Keys != nil {
		keys, err := s.c.Keys.SigningKeys(ctx)
		lacks(err)
		out.todo = append(out.todo, keysWait(keys, now)...)
	}
	var all []storage.Capability
	if s.c.WhyUnlisted != nil {
		var err error
		all, _, err = s.c.Store.Capabilities(ctx, "", "", readCaps)
		lacks(err)
	}
	out.begun = s.begins(ctx, now, all, out, lacks)
	out.todo = append(out.todo, s.capabilities(ctx, all, lacks)...)
	return out
}

// capabilities returns what of capabilities waits, webhooks first.
func (s *Overview) capabilities(ctx context.Context, all []storage.Capability, lacks func(error) bool) (waits []todo) {
	hooks := 0
	for _, c := range all {
		if c.WebhookURL == "" || hooks == readHooks {
			continue
		}
		hooks++
		due, err := s.c.Store.Deliveries(ctx, c.Member)
		lacks(err)
		waits = append(waits, webhookWaits(c.Member, due)...)
	}
	for _, c := range all {
		waits = append(waits, capabilityWaits(c, s.c.WhyUnlisted)...)
	}
	return waits[:min(len(waits), maxTodo)]
}

// top returns who called most today. An application that is gone is called by its id.
func (s *Overview) top(ctx context.Context, of string, now time.Time, lacks func(error) bool) (all []name) {
	found, err := s.c.Reader.Top(ctx, usage.TopQuery{Of: of, From: now, N: topNames})
	lacks(err)
	var ids []string
	for _, one := range found {
		all = append(all, name{ID: one.Name, Name: one.Name, Calls: one.Calls, Errors: one.Errors, AtLeast: one.AtLeast})
		ids = append(ids, one.Name)
	}
	if of != usage.Apps || len(ids) == 0 {
		return all
	}
	apps, _, err := s.c.Store.AppsAndUsers(ctx, ids, nil)
	lacks(err)
	for _, app := range apps {
		if i := slices.Index(ids, app.ID); i >= 0 {
			all[i].Name = ui.Shown(app.Name, maxShown)
		}
	}
	return all
}
