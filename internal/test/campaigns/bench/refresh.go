//go:build linux

package main

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strconv"
)

// rotations is row 3: refresh tokens, replaced durably.
func (b *bench) rotations() ([]figure, error) {
	some, stop, err := b.stocks("refresh-small", 1e3)
	if err != nil {
		return nil, err
	}
	defer stop()
	stocks := map[string]int{"100,000": 1e5}
	if b.large {
		stocks["1,000,000"] = 1e6
	}
	figures, err := b.besideDisk(some)
	for label, n := range stocks {
		if err != nil {
			return nil, err
		}
		var f figure
		f, err = b.flatness(some[0], label, n)
		figures = append(figures, f)
	}
	return figures, err
}

// stock is a service whose store holds refresh tokens that the load can replace.
type stock struct {
	*service
	handles []string
}

// stocks opens one for each of the keystiles that are measured.
func (b *bench) stocks(name string, n int) (some []*stock, stop func(), err error) {
	stop = func() {
		for _, s := range some {
			s.stop()
		}
	}
	for i, binary := range b.binaries() {
		s, err := b.stocked(binary, name+strconv.Itoa(i), n)
		if err != nil {
			stop()
			return nil, nil, err
		}
		some = append(some, s)
	}
	return some, stop, nil
}

func (b *bench) stocked(binary, name string, n int) (*stock, error) {
	store, err := b.storeFlags(name)
	if err != nil {
		return nil, err
	}
	h, err := openOn(store, binary, filepath.Join(b.dir, name))
	if err != nil {
		return nil, err
	}
	owner, err := h.owner()
	h.stop()
	if err != nil {
		return nil, err
	}
	backend, err := h.backend()
	if err != nil {
		return nil, err
	}
	handles, err := fill(backend, n, h.app.ID, owner)
	if err != nil {
		return nil, err
	}
	rand.Shuffle(n, func(i, j int) { handles[i], handles[j] = handles[j], handles[i] })
	h, err = openOn(store, binary, h.data)
	return &stock{h, handles}, err
}

// owner is the sub of the administrator.
func (h *service) owner() (string, error) {
	c, err := dial(h.address)
	if err != nil {
		return "", err
	}
	defer c.Close()
	if err := h.code(c); err != nil {
		return "", err
	}
	access, err := c.member("access_token")
	if err != nil {
		return "", err
	}
	if err := c.get("/oauth/userinfo", "Authorization: Bearer "+access+"\r\n"); err != nil {
		return "", err
	}
	return c.member("sub")
}

// load shares the handles among clients; each goes round its share, and finds there what it
// put there the round before.
func (s *stock) load(name string, clients int) contender {
	next := make([]int, clients)
	return contender{name, s.process, clients, func(client int, c *conn) error {
		at := client + next[client]*clients
		if at >= len(s.handles) {
			at, next[client] = client, 0
		}
		next[client]++
		handle, err := s.rotate(c, s.handles[at])
		s.handles[at] = handle
		return err
	}}
}

func (b *bench) flatness(small *stock, label string, n int) (figure, error) {
	big, err := b.stocked(b.binary, fmt.Sprint("refresh-", n), n)
	if err != nil {
		return figure{}, err
	}
	defer big.stop()
	s, err := b.rounds(small.load("1,000 tokens", 64), big.load(label+" tokens", 64))
	if err != nil {
		return figure{}, err
	}
	r, spread := ratio(s[1], s[0], b.speed())
	return figure{work: "rotation with " + label + " stored tokens, 64 clients", beside: "1,000 stored tokens", goal: 0.9,
		value: r, spread: spread, cpu: median(s[1], cpu), note: perSecond(s[1])}, nil
}

// besideDisk holds one client and 64 against what the disk allows, which is measured in between.
func (b *bench) besideDisk(some []*stock) (figures []figure, err error) {
	var commits, flushes []sample
	one, many := make([][]sample, len(some)), make([][]sample, len(some))
	single := *b
	single.turns = 1
	for range b.turns {
		c, err := b.commits()
		if err != nil {
			return nil, err
		}
		f, err := b.flushes()
		if err != nil {
			return nil, err
		}
		commits, flushes = append(commits, c), append(flushes, f)
		for clients, into := range map[int][][]sample{1: one, 64: many} {
			var all []contender
			for _, s := range some {
				all = append(all, s.load(fmt.Sprint("rotation of ", clients), clients))
			}
			s, err := single.rounds(all...)
			if err != nil {
				return nil, err
			}
			for i := range s {
				into[i] = append(into[i], s[i]...)
			}
		}
	}
	b.loudest = max(b.loudest, single.loudest)
	figures = append(b.wide(many[0], commits, flushes), b.compared(many)...)
	return append(append(figures, b.lone(one[0], commits, flushes)...), b.compared(one)...), nil
}

// wide holds 64 clients against commits and flushes.
func (b *bench) wide(s, commits, flushes []sample) []figure {
	const work = "refresh rotation, durable, 64 clients"
	beside, spread := ratio(s, commits, rate)
	bare, bareSpread := ratio(s, flushes, rate)
	return []figure{
		{work: work, beside: "one commit of bbolt at a time, " + perSecond(commits), goal: noGoal, value: beside,
			spread: spread, cpu: median(s, cpu), note: perSecond(s)},
		{work: "its processor time", goal: 110, atMost: true, value: median(s, cpu), unit: " us"},
		{work: work, beside: "fdatasync of 4 KiB, " + perSecond(flushes), goal: noGoal, value: bare, spread: bareSpread},
	}
}

// lone holds the wait of one client against them.
func (b *bench) lone(s, commits, flushes []sample) []figure {
	const work = "refresh rotation, durable, 1 client, p50"
	beside, spread := ratio(s, commits, p50)
	return []figure{
		{work: work, beside: fmt.Sprintf("one commit of bbolt, p50, %.0f us", median(commits, p50)), goal: 1.8, atMost: true,
			value: beside, spread: spread, cpu: median(s, cpu), note: fmt.Sprintf("%.0f us", median(s, p50))},
		{work: "the same, without one flush", beside: fmt.Sprintf("fdatasync of 4 KiB, p50, %.0f us",
			median(flushes, p50)), goal: 200, atMost: true, value: median(s, p50) - median(flushes, p50), unit: " us"},
	}
}
