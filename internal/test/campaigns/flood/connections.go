package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"syscall"
	"time"
)

const (
	drippers = 10_000
	deaf     = 2_000 // who do not read

	dripEvery   = 2 * time.Second
	comeAgain   = 20 * time.Second // for which those who were refused try again
	allGone     = 2 * time.Minute
	honestWait  = time.Second
	honestAddr  = "127.0.0.2"
	perAddress  = 256 // the default of limits.connections_per_ip
	mostLeft    = 30  // goroutines and files beyond those of the beginning
	dialAtOnce  = 64
	perMinute   = 1_000_000_000 // requests: here connections are to be the limit
	answersWant = 20            // that a hurried attack waits for
)

// assault is an attack by connections.
type assault struct {
	name string
	args []string
	from []string // its addresses
	most int      // connections that it may hold; 0: as many as possible
	free bool     // it leaves a quarter of the capacity
}

func assaults() []assault {
	many := make([]string, 20)
	for i := range many {
		many[i] = fmt.Sprintf("127.0.1.%d", i+1)
	}
	return []assault{
		{name: "one address", from: []string{"127.0.0.9"}, most: perAddress},
		{name: "20 addresses, and the limit of each is raised", from: many,
			args: []string{"--limits-connections-per-ip", "100000"}},
		{name: "a trusted proxy", from: []string{"127.0.0.9"}, args: []string{"--trusted-proxies", "127.0.0.9"}, free: true},
	}
}

func connections(ctx context.Context, o options, data string) (v verdict, err error) {
	capacity := capacityFor(openFiles())
	if all := drippers + deaf; capacity < all*6/5 {
		o.printf("A server may open %d files here, so there is room for %d connections; for all %d to be held it needs "+
			"some 30,000 (ulimit -n).\n", openFiles(), capacity, all)
	}
	for i, a := range assaults() {
		if !strings.Contains(a.name, o.only) {
			continue
		}
		s, err := start(o, fmt.Sprintf("%s%d", data, i), append(a.args, "--limits-per-ip", strconv.Itoa(perMinute))...)
		if err != nil {
			return v, err
		}
		err = a.run(ctx, o, s, capacity, &v)
		s.kill()
		if err != nil {
			return v, err
		}
	}
	return v, nil
}

// openFiles returns how many files a child may open. Go raises the soft limit to the hard one.
func openFiles() int {
	var l syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &l); err != nil {
		return 1024
	}
	return int(l.Max)
}

// capacityFor returns how many connections a server accepts that may open so many files.
func capacityFor(files int) int { return max(1, (files-min(files/4, 256))/2) }

// run attacks and watches.
func (a assault) run(ctx context.Context, o options, s *server, capacity int, v *verdict) error {
	ctx, giveUp := context.WithCancel(ctx)
	defer giveUp()
	base, err := s.metrics()
	if err != nil {
		return err
	}
	n, m := o.of(drippers), o.of(deaf)
	if most := capacity * 3 / 4; a.free && n+m > most {
		n, m = n*most/(n+m), m*most/(n+m)
	}
	attack, err := army{From: a.from, Address: s.address, Drip: n, Deaf: m}.start(ctx)
	if err != nil {
		return err
	}
	defer attack.Wait()
	defer giveUp()
	w := monitor{assault: a, server: s, base: base, began: time.Now()}
	if o.hurry {
		err = w.hurried(ctx, giveUp)
	} else {
		err = w.untilGone(ctx)
	}
	if err != nil {
		return err
	}
	w.report(o, v, n+m)
	return nil
}
