package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/keystile/keystile/internal/test/serving"
	"github.com/keystile/keystile/storage"
)

// campaign is a site under load, to which faults happen.
type campaign struct {
	options
	site   *site
	model  *model
	world  *world
	trail  *trail
	rand   *rand.Rand
	faults []fault
	bearer string // an access token that nobody revokes
	behind func(context.Context) error
	bills  []*charged

	mu      sync.Mutex
	cookie  string
	entered time.Time

	counts     map[string]int
	recoveries map[string][]time.Duration
	took       time.Duration
	dice       uint64
}

func newCampaign(ctx context.Context, o options, dir string) (*campaign, error) {
	c := &campaign{options: o, rand: rand.New(rand.NewPCG(o.seed, 0)), counts: map[string]int{},
		recoveries: map[string][]time.Duration{}}
	var err error
	if c.site, err = newSite(ctx, o, dir, rand.New(rand.NewPCG(rand.Uint64(), 1))); err != nil {
		return nil, err
	}
	if c.faults, err = choose(c.site); err == nil {
		c.trail, err = newTrail(ctx, c.site)
	}
	if err == nil {
		err = c.prepare()
	}
	if err != nil {
		return nil, errors.Join(err, c.site.close())
	}
	return c, nil
}

func (c *campaign) close() error {
	c.trail.watcher.Close()
	return c.site.close()
}

// prepare makes the service one that everybody here can use.
func (c *campaign) prepare() error {
	c.model = newModel(c.site)
	for _, n := range c.site.nodes {
		n.started = c.model.started
	}
	first, err := serving.ReadFirstRun(c.site.nodes[0].data)
	if err != nil {
		return err
	}
	c.world = &world{app: application(first.App), session: c.session, trail: c.trail}
	c.world.admin.name, c.world.admin.password = first.Admin.Username, first.Admin.Password
	for end := time.Now().Add(comeBack); !c.balanced() && time.Now().Before(end); {
		time.Sleep(10 * time.Millisecond)
	}
	c.model.run(0, nil, "app set", []string{"tier", "enterprise"}, first.App.ID)
	c.model.run(0, nil, "setting set", nil, storage.SettingDefaultAccess, storage.AccessEveryone)
	h := &holder{actor: c.actor()}
	h.open()
	if len(h.families) != 1 || len(c.model.violations) > 0 {
		return fmt.Errorf("the service cannot be used: %v", c.model.violations)
	}
	c.bearer = h.families[0].access[0]
	return nil
}

// recently bounds the age of the administrator's sign-in: what cannot be taken back wants one of the
// last ten minutes.
const recently = 5 * time.Minute

// session is the cookie of the administrator.
func (c *campaign) session() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	for c.cookie == "" || time.Since(c.entered) > recently {
		if cookie := c.actor().signIn(balanced, c.world.admin.name, c.world.admin.password); cookie != "" {
			c.cookie, c.entered = cookie, time.Now()
		} else if c.model.over.Load() {
			break
		}
	}
	return c.cookie
}

func (c *campaign) actor() *actor {
	c.dice++
	return &actor{c.model, c.world, rand.New(rand.NewPCG(c.seed, c.dice))}
}

// The number of each.
const (
	holders = 4
	callers = 3
	rushes  = 4 // of one application
)

// people are all who work. step does one thing.
func (c *campaign) people() (all []interface{ step() }) {
	for range holders {
		all = append(all, &holder{actor: c.actor()})
	}
	for range callers {
		b := &charged{actor: c.actor(), sent: new(atomic.Int64), answered: new(atomic.Int64)}
		c.bills = append(c.bills, b)
		all = append(all, b)
	}
	h := &hurried{actor: c.actor(), calls: &calls{}}
	for h.bearer == "" {
		h.step()
	}
	for range rushes {
		all = append(all, &hurried{c.actor(), h.bearer, h.calls})
	}
	if c.site.redis != nil {
		all = append(all, c.model.lookout)
	}
	return append(all, &scanner{actor: c.actor()}, &truster{actor: c.actor()}, &publisher{actor: c.actor()},
		&registrar{actor: c.actor()}, &guesser{c.actor()})
}

// rest is the longest time between two things that one does.
const rest = 40 * time.Millisecond

// run has everybody work, and faults happen one after the other; then everything is asked once more.
// An interrupt ends it after the fault that there is.
func (c *campaign) run(ctx context.Context) error {
	began := time.Now()
	defer func() { c.took = time.Since(began) }()
	var working sync.WaitGroup
	for _, p := range c.people() {
		a := c.actor()
		working.Go(func() {
			for !c.model.over.Load() {
				p.step()
				a.pause(rest)
			}
		})
	}
	var err error
	interrupted := ctx // between two faults, and not amid one: what was done is to be judged
	ctx = context.WithoutCancel(ctx)
	for i := 0; i < c.cycles && err == nil && interrupted.Err() == nil && !c.model.hopeless(); i++ {
		hold(interrupted, c.calm/2+c.upTo(c.calm))
		err = c.fault(ctx)
	}
	hold(interrupted, c.calm)
	c.model.over.Store(true)
	working.Wait()
	c.model.busy.Wait()
	if err == nil {
		for _, b := range c.bills {
			b.reckon()
		}
		err = c.trail.check(ctx, c.model)
	}
	return err
}

// fault draws one, has it happen, and waits until everything works again.
func (c *campaign) fault(ctx context.Context) error {
	f := c.draw()
	w, run := f.strike(c)
	c.counts[f.name]++
	if c.verbose {
		fmt.Printf("%8.3f s: fault %s: %s\n", time.Since(c.model.began).Seconds(), f.name, w.what)
	}
	end := c.model.begin(w)
	err := run(ctx)
	mended := time.Now()
	if err == nil {
		err = c.recovered(ctx, mended)
	}
	end()
	if err != nil {
		return fmt.Errorf("%s: %w", w.what, err)
	}
	c.recoveries[f.name] = append(c.recoveries[f.name], time.Since(mended))
	if behind := c.behind; behind != nil {
		c.behind = nil
		return behind(ctx)
	}
	return nil
}

// draw draws a fault by its weight.
func (c *campaign) draw() fault {
	sum := 0
	for _, f := range c.faults {
		sum += f.weight
	}
	n := c.rand.IntN(sum)
	for _, f := range c.faults {
		if n -= f.weight; n < 0 {
			return f
		}
	}
	panic("unreachable")
}

// recovered waits until all nodes are ready, have read what was there when nothing was wrong any more,
// and the balancer knows.
func (c *campaign) recovered(ctx context.Context, since time.Time) error {
	for _, n := range c.site.nodes {
		if err := n.await(ctx, since); err != nil {
			c.model.violated("%v", err)
			return err
		}
	}
	for end := time.Now().Add(comeBack); !c.balanced(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) || ctx.Err() != nil {
			return errors.New("the balancer does not take all nodes for ready")
		}
	}
	return nil
}

func (c *campaign) balanced() bool {
	for i := range c.site.nodes {
		if !c.site.balancer.Ready(i) {
			return false
		}
	}
	return true
}
