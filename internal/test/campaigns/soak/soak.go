package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// soak is a site under load for a long time.
type soak struct {
	options
	site    *site
	world   *world
	meter   *meter
	sampler *sampler
	people  []*person
	dice    *rand.Rand
	found   float64 // acts a second that the calibration found; 0: there was none
	pace    float64 // acts a second of the load
	gap     time.Duration

	acts, dropped         atomic.Int64
	counts                map[string]int // of the events
	restarts, kills, cuts int
	idle, end             map[string]float64 // node 0 without load, before and after
	held                  map[string]string  // what most of its goroutines and files are, if they are too many
	took                  time.Duration
	after                 aftermath
	violations            []string
}

func newSoak(ctx context.Context, o options, dir string) (*soak, error) {
	s := &soak{options: o, dice: rand.New(rand.NewPCG(o.seed, 0)), counts: map[string]int{}}
	var err error
	if s.site, err = newSite(ctx, o, dir); err != nil {
		return nil, err
	}
	if s.world, err = newWorld(s.site); err == nil {
		s.meter = s.world.meter
		s.people, err = s.world.people(ctx, o.people)
	}
	if err != nil {
		if o.keep {
			err = errors.Join(err, s.site.saveLogs(dir+"/logs"))
		}
		return nil, errors.Join(err, s.site.close())
	}
	return s, nil
}

// warmUp is the time of the calibration, with all that the machine gives: caches and pools fill.
const warmUp = 6 * time.Second

// run puts the load on, has the events happen, and looks at what is left.
func (s *soak) run(ctx context.Context) error {
	calm, done := context.WithTimeout(ctx, warmUp)
	before := time.Now()
	s.load(calm, s.rate)
	done()
	s.found = float64(s.acts.Load()) / time.Since(before).Seconds()
	s.pace = s.found * s.share
	if s.rate > 0 {
		s.found, s.pace = 0, s.rate
	}
	s.acts.Store(0)
	if err := s.rest(ctx, func(is map[string]float64) bool { s.idle = is; return false }, quiet); err != nil {
		return err
	}
	s.meter.forget()
	s.sampler = newSampler(s.site)
	fmt.Fprintf(os.Stderr, "soak: %d nodes on %s, %.1f acts a second for %v, seed %d\n", len(s.site.nodes), s.storage,
		s.pace, s.length(), s.seed)
	err := s.under(ctx)
	s.took = time.Since(s.meter.began)
	if err == nil {
		err = s.rest(ctx, s.isBack, comeBack)
	}
	if err == nil && !s.isBack(s.end) {
		s.held = s.site.nodes[0].holds()
	}
	if err == nil {
		err = s.look(ctx)
	}
	return err
}

// under is the time under load.
func (s *soak) under(ctx context.Context) error {
	ctx, stop := context.WithTimeout(ctx, s.length())
	defer stop()
	var working sync.WaitGroup
	working.Go(func() { s.load(ctx, s.pace) })
	working.Go(func() { s.sampler.watch(ctx, s.interval()) })
	err := s.schedule(ctx)
	if err != nil {
		stop()
	}
	working.Wait()
	return err
}

// interval is the time between two measurements: some five hundred in all, and no more than one a second.
func (s *soak) interval() time.Duration { return max(time.Second, s.length()/500) }

// Times of a machine without load.
const (
	quiet = 6 * time.Second // upstreams have given up idle connections
)

// rest lets the nodes rest, until node 0 is as it should be, or the time is over.
func (s *soak) rest(ctx context.Context, enough func(map[string]float64) bool, most time.Duration) error {
	n := s.site.nodes[0]
	for end := time.Now().Add(most); ; {
		s.site.balancer.CloseIdleConnections()
		wait(ctx, min(most, quiet)/2)
		is, err := measure(n.PID(), n.admin, n.data)
		if err != nil || ctx.Err() != nil {
			return errors.Join(err, ctx.Err())
		}
		if enough(is) || time.Now().After(end) {
			return nil
		}
	}
}

// mostLeft are the goroutines, files and connections that a node may have without load beyond those before the load.
const mostLeft = 25

func (s *soak) isBack(is map[string]float64) bool {
	s.end = is
	for _, what := range []string{files, goroutines, connections} {
		if is[what] > s.idle[what]+mostLeft {
			return false
		}
	}
	return true
}

// Those who sign in with a password are one in fifty acts, and two a second at most: argon2 is to
// take long.
const (
	signInShare = 0.02
	mostSignIns = 2.0
)

// load has all people act at an even pace until ctx ends, or as fast as they can without one. An act for
// which nobody is free is dropped: what waits must not come all at once later.
func (s *soak) load(ctx context.Context, pace float64) {
	tickets := make(chan bool) // true: somebody is to sign in
	var working sync.WaitGroup
	for _, p := range s.people {
		working.Go(func() {
			for signIn := range tickets {
				if signIn {
					p.signIn()
				} else {
					draw(p.rand).do(p)
				}
				s.acts.Add(1)
			}
		})
	}
	defer working.Wait()
	defer close(tickets)
	if pace == 0 {
		s.flood(ctx, tickets)
		return
	}
	signIns := min(pace*signInShare, mostSignIns)
	began := time.Now()
	for acts, ins := 0.0, 0.0; ctx.Err() == nil; wait(ctx, 2*time.Millisecond) {
		due := time.Since(began).Seconds()
		for ; acts < due*pace; acts++ {
			signIn := ins < due*signIns
			if signIn {
				ins++
			}
			select {
			case tickets <- signIn:
			default:
				s.dropped.Add(1)
			}
		}
	}
}

// flood hands out acts as fast as people take them.
func (s *soak) flood(ctx context.Context, tickets chan<- bool) {
	for i := 0; ; i++ {
		select {
		case tickets <- i%int(1/signInShare) == 0:
		case <-ctx.Done():
			return
		}
	}
}
