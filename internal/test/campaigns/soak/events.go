package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// event happens to the nodes, or to what is around them, while they are under load.
type event struct {
	name  string
	needs func(*site) bool
	do    func(*soak, context.Context) error
}

func always(*site) bool    { return true }
func several(s *site) bool { return len(s.nodes) > 1 }

var events = []event{
	{"rolling", several, (*soak).rolling},
	{"kill", several, (*soak).kill},
	{"upstream-away", always, (*soak).upstreamAway},
	{"upstream-slow", always, (*soak).upstreamSlow},
	{"mail-away", always, (*soak).mailAway},
	{"database-cut", func(s *site) bool { return s.database != nil }, (*soak).databaseCut},
	{"redis-restart", func(s *site) bool { return s.counter != nil }, (*soak).redisRestart},
	{"key-rotation", always, (*soak).keyRotation},
	{"secret-rotation", always, (*soak).secretRotation},
}

func eventNames() string {
	var all []string
	for _, e := range events {
		all = append(all, e.name)
	}
	return strings.Join(all, ", ")
}

// chosen are the events that are asked for and that this site allows.
func (s *soak) chosen() (all []event, err error) {
	asked := strings.Split(s.events, ",")
	for _, name := range asked {
		if s.events != "" && !slices.ContainsFunc(events, func(e event) bool { return e.name == name }) {
			return nil, fmt.Errorf("--events: there is no %q: there are %s", name, eventNames())
		}
	}
	for _, e := range events {
		if e.needs(s.site) && (s.events == "" || slices.Contains(asked, e.name)) {
			all = append(all, e)
		}
	}
	if len(all) == 0 {
		return nil, errors.New("--events: this site allows none of them")
	}
	return all, nil
}

// The share of the time in which there are events: before it nodes warm up, after it they recover.
const (
	firstEvent = 0.1
	lastEvent  = 0.9
)

// longest is the time between two events if nobody says how long it is.
const longest = 45 * time.Second

// schedule has all events happen, one after the other, in an order that is drawn anew each time round.
func (s *soak) schedule(ctx context.Context) error {
	all, err := s.chosen()
	if err != nil {
		return err
	}
	length := s.length()
	first, last := time.Duration(float64(length)*firstEvent), time.Duration(float64(length)*lastEvent)
	s.gap = s.every
	if s.gap == 0 {
		s.gap = min(longest, (last-first)/time.Duration(len(all)))
	}
	for i, next := 0, first; next < last; i, next = i+1, max(next+s.gap, time.Since(s.meter.began)) {
		if i%len(all) == 0 {
			s.dice.Shuffle(len(all), func(a, b int) { all[a], all[b] = all[b], all[a] })
		}
		if wait(ctx, next-time.Since(s.meter.began)); ctx.Err() != nil {
			return nil
		}
		e := all[i%len(all)]
		if s.verbose {
			fmt.Printf("%8.1f s: %s\n", time.Since(s.meter.began).Seconds(), e.name)
		}
		if err := e.do(s, context.WithoutCancel(ctx)); err != nil {
			return fmt.Errorf("%s: %w", e.name, err)
		}
		s.counts[e.name]++
	}
	return nil
}

// wait waits, or until ctx ends.
func wait(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}

// hold returns the time that a fault lasts.
func (s *soak) hold() time.Duration { return min(s.gap/2, 10*time.Second) }

// rolling restarts all nodes but the first, one after the other. It is no excuse for anything.
func (s *soak) rolling(ctx context.Context) error {
	defer s.meter.open(window{what: "rolling restart"})()
	for _, n := range s.site.nodes[1:] {
		n.serves.Store(0)
		if err := errors.Join(n.stop(), s.again(ctx, n)); err != nil {
			return err
		}
	}
	return nil
}

// again starts a node that has ended, and waits until it gets requests.
func (s *soak) again(ctx context.Context, n *node) error {
	s.restarts++
	if err := n.start(ctx); err != nil {
		return err
	}
	return s.site.allReady(ctx)
}

// lostBy explains what one node does not answer.
func lostBy(node int) func(problem) bool {
	return func(p problem) bool { return p.class == lost && p.node == strconv.Itoa(node) }
}

func (s *soak) kill(ctx context.Context) error {
	n := s.site.nodes[1+s.dice.IntN(len(s.site.nodes)-1)]
	defer s.meter.open(window{what: "kill", explains: lostBy(n.id)})()
	n.serves.Store(0)
	n.Kill()
	s.kills++
	wait(ctx, min(s.hold(), 3*time.Second))
	return s.again(ctx, n)
}

// hasUpstream reports whether a kind of request goes on to the service behind the gateway.
func hasUpstream(kind string) bool {
	return kind == "gateway call" || kind == "stream" || kind == "tools/call"
}

func (s *soak) upstreamAway(ctx context.Context) error {
	defer s.meter.open(window{what: "upstream away", explains: func(p problem) bool {
		// which has begun already
		return hasUpstream(p.kind) && (p.class == behind || p.class == away) || p.kind == "stream" && p.class == lost
	}})()
	s.site.upstream.away.Store(true)
	defer s.site.upstream.away.Store(false)
	wait(ctx, s.hold())
	return nil
}

// slowly delays the answers of a slow upstream.
const slowly = 300 * time.Millisecond

func (s *soak) upstreamSlow(ctx context.Context) error {
	defer s.meter.open(window{what: "upstream slow", slow: true})()
	s.site.upstream.delay.Store(int64(slowly))
	defer s.site.upstream.delay.Store(0)
	wait(ctx, s.hold())
	return nil
}

// mailAway is no excuse: mails wait.
func (s *soak) mailAway(ctx context.Context) error {
	defer s.meter.open(window{what: "mail server away"})()
	s.site.mails.away.Store(true)
	defer s.site.mails.away.Store(false)
	wait(ctx, s.hold())
	return nil
}

func (s *soak) databaseCut(ctx context.Context) error {
	defer s.meter.open(window{what: "connections to the database cut",
		explains: func(p problem) bool { return p.class == away }})()
	n, err := s.site.cutConnections(ctx)
	if err == nil && n == 0 {
		err = errors.New("there were no connections")
	}
	s.cuts += n
	return err
}

// redisRestart is no excuse: nodes count alone meanwhile.
func (s *soak) redisRestart(ctx context.Context) error {
	defer s.meter.open(window{what: "Redis restarted", slow: true})()
	s.site.counter.close()
	wait(ctx, min(s.hold(), 2*time.Second))
	return s.site.counter.start()
}

// keyRotation is no excuse: what was signed stays valid, and the new key has been published for long.
func (s *soak) keyRotation(context.Context) error {
	defer s.meter.open(window{what: "key rotation"})()
	n := s.site.nodes[s.dice.IntN(len(s.site.nodes))]
	return n.run(nil, "key rotate", nil)
}

// spreads is the time in which all nodes know of a new secret: what is promised, and as much again.
const spreads = 2 * time.Second

// secretRotation gives an application a new secret, which it uses as soon as all nodes know of it.
func (s *soak) secretRotation(ctx context.Context) error {
	defer s.meter.open(window{what: "secret rotation"})()
	old := s.world.rotated.Load()
	next := *old
	n := s.site.nodes[s.dice.IntN(len(s.site.nodes))]
	if err := n.run(&next, "app rotate-secret", []string{"overlap", "1h"}, old.ID); err != nil {
		return err
	}
	wait(ctx, spreads)
	s.world.rotated.Store(&next)
	return nil
}
