package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/keystile/keystile/internal/test/campaigns/cluster/internal/link"
)

func (c *campaign) killBouncer() (wrong, func(context.Context) error) {
	gone := c.upTo(time.Second)
	return atAll("PgBouncer is killed for %v", gone), func(ctx context.Context) error {
		c.site.bouncer.close()
		hold(ctx, gone)
		return c.site.bouncer.start()
	}
}

func (c *campaign) pauseBouncer() (wrong, func(context.Context) error) {
	d := c.stretch()
	return atAll("PgBouncer is stopped for %v", d), func(ctx context.Context) error {
		return c.stop(ctx, &c.site.bouncer.process, d)
	}
}

func (c *campaign) stop(ctx context.Context, p *process, d time.Duration) error {
	err := p.signal(syscall.SIGSTOP)
	hold(ctx, d)
	return errors.Join(err, p.signal(syscall.SIGCONT))
}

func (c *campaign) killRedis() (wrong, func(context.Context) error) {
	gone := c.stretch()
	return counting("Redis is killed for %v", gone), func(ctx context.Context) error {
		c.site.redis.close()
		hold(ctx, gone)
		return c.site.redis.start()
	}
}

func (c *campaign) pauseRedis() (wrong, func(context.Context) error) {
	d := c.stretch()
	return counting("Redis is stopped for %v", d), func(ctx context.Context) error {
		return c.stop(ctx, &c.site.redis.process, d)
	}
}

func (c *campaign) emptyRedis() (wrong, func(context.Context) error) {
	return counting("Redis is emptied"), func(context.Context) error { return c.site.redis.empty() }
}

// cutRedis cuts one node off from Redis, or all.
func (c *campaign) cutRedis() (wrong, func(context.Context) error) {
	d, state, how := c.stretch(), link.Cut, "cut"
	if c.rand.IntN(2) == 0 {
		state, how = link.Silent, "silent"
	}
	ways := c.waysToRedis()
	return counting("%d ways to Redis are %s for %v", len(ways), how, d), func(ctx context.Context) error {
		set(ways, state, 0)
		hold(ctx, d)
		set(ways, link.Open, 0)
		return nil
	}
}

func (c *campaign) slowRedis() (wrong, func(context.Context) error) {
	d, delay, ways := c.stretch(), 10*time.Millisecond+c.upTo(190*time.Millisecond), c.waysToRedis()
	return counting("%d ways to Redis take %v longer for %v", len(ways), delay, d), func(ctx context.Context) error {
		set(ways, link.Slow, delay)
		hold(ctx, d)
		set(ways, link.Open, 0)
		return nil
	}
}

func (c *campaign) waysToRedis() (ways []*link.Link) {
	one := c.rand.IntN(2 * len(c.site.nodes))
	for i, n := range c.site.nodes {
		if i == one || one >= len(c.site.nodes) {
			ways = append(ways, n.redis)
		}
	}
	return ways
}

// fill writes a folder full; mend makes room again.
func fill(folder string) (mend func() error, err error) {
	path := filepath.Join(folder, "ballast")
	f, err := os.Create(path)
	if err != nil {
		return func() error { return nil }, err
	}
	piece := make([]byte, 64<<10)
	for size := len(piece); size > 0; {
		if _, err := f.Write(piece[:size]); err != nil {
			size /= 2
		}
	}
	return func() error { return errors.Join(f.Close(), os.Remove(path)) }, nil
}

// rolling ends each node after the other gently, and starts it anew, under load. Nobody may notice who
// comes through the balancer.
func (c *campaign) rolling() (wrong, func(context.Context) error) {
	return wrong{what: "rolling restart", node: everywhere, aimed: true}, c.roll
}

// upgrade is a rolling restart to the program of the next schema, or back.
func (c *campaign) upgrade() (wrong, func(context.Context) error) {
	to := c.site.next
	if c.site.nodes[0].binary == to {
		to = c.site.binary
	}
	return wrong{what: "rolling restart to another schema", node: everywhere, aimed: true},
		func(ctx context.Context) error {
			for _, n := range c.site.nodes {
				n.binary = to
			}
			return c.roll(ctx)
		}
}

func (c *campaign) roll(ctx context.Context) error {
	stop := c.steady()
	defer stop()
	hold(ctx, time.Second)
	for _, n := range c.site.nodes {
		if err := n.Signal(syscall.SIGTERM); err != nil {
			return err
		}
		select {
		case <-n.Ended:
		case <-time.After(comeBack):
			return fmt.Errorf("node %d has not ended %v after SIGTERM\n%s", n.id, comeBack, n.Log)
		}
		if code := n.State().ExitCode(); code != 0 {
			c.model.violated("SIGTERM ends node %d with %d\n%s", n.id, code, n.Log)
		}
		if err := n.start(); err != nil {
			return err
		}
		if err := c.recovered(ctx, time.Now()); err != nil {
			return err
		}
	}
	hold(ctx, time.Second)
	return nil
}
