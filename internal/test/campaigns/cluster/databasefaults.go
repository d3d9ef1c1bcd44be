package main

import (
	"context"
	"errors"
	"time"

	"github.com/keystile/keystile/internal/test/campaigns/cluster/internal/link"
)

// failover kills the primary and promotes the standby, and then makes another standby of the old one.
func (c *campaign) failover() (wrong, func(context.Context) error) {
	return atAll("the primary is killed, and its standby promoted"), c.promote
}

func (c *campaign) promote(ctx context.Context) error {
	if err := c.site.pair.failover(ctx); err != nil {
		return err
	}
	c.behind = func(ctx context.Context) error { return c.site.pair.rebuild(ctx, c.rand.IntN(2) == 0) }
	return c.site.bouncer.lead()
}

// failoverLate kills the primary after its standby has heard nothing for some time: what was answered
// meanwhile would be lost, if anything was.
func (c *campaign) failoverLate() (wrong, func(context.Context) error) {
	p, d := c.site.pair, time.Second+c.upTo(9*time.Second)
	return atAll("the standby hears nothing for %v, then the primary is killed, and the standby promoted", d),
		func(ctx context.Context) error {
			way := p.ways[p.primary]
			way.Set(link.Silent, 0)
			hold(ctx, d)
			killed := p.now().Kill()
			way.Set(link.Cut, 0) // what is on its way never arrives
			way.Set(link.Open, 0)
			return errors.Join(killed, c.promote(ctx))
		}
}

func (c *campaign) killDatabase() (wrong, func(context.Context) error) {
	p, gone := c.site.pair, c.upTo(time.Second)
	return atAll("the primary is killed for %v", gone), func(ctx context.Context) error {
		err := p.now().Kill()
		hold(ctx, gone)
		return errors.Join(err, p.now().Start(ctx), p.now().Synchronous(ctx))
	}
}

func (c *campaign) pauseDatabase() (wrong, func(context.Context) error) {
	p, d := c.site.pair, c.stretch()
	return atAll("the primary is stopped for %v", d), func(ctx context.Context) error {
		err := p.now().Pause()
		hold(ctx, d)
		return errors.Join(err, p.now().Resume(), p.now().Synchronous(ctx))
	}
}

func (c *campaign) killStandby() (wrong, func(context.Context) error) {
	p, gone := c.site.pair, c.stretch()
	return atAll("the standby is killed for %v, and nothing can be acknowledged", gone), func(ctx context.Context) error {
		err := p.standby().Kill()
		hold(ctx, gone)
		return errors.Join(err, p.standby().Start(ctx), p.now().Synchronous(ctx))
	}
}

func (c *campaign) cutStandby() (wrong, func(context.Context) error) {
	p, d := c.site.pair, c.stretch()
	state := link.Cut
	if c.rand.IntN(2) == 0 {
		state = link.Silent
	}
	return atAll("the standby is cut off for %v, and nothing can be acknowledged", d), func(ctx context.Context) error {
		p.ways[p.primary].Set(state, 0)
		hold(ctx, d)
		p.ways[p.primary].Set(link.Open, 0)
		return p.now().Synchronous(ctx)
	}
}
