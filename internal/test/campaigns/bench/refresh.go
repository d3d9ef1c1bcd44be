//go:build linux

package main

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
)

// rotations is row 3: refresh tokens, replaced durably.
func (b *bench) rotations() ([]figure, error) {
	small, err := b.stocked("refresh-small", 1e3)
	if err != nil {
		return nil, err
	}
	defer small.stop()
	stocks := map[string]int{"100,000": 1e5}
	if b.large {
		stocks["1,000,000"] = 1e6
	}
	figures, err := b.besideCommits(small)
	for label, n := range stocks {
		if err != nil {
			return nil, err
		}
		var f figure
		f, err = b.flatness(small, label, n)
		figures = append(figures, f)
	}
	return figures, err
}

// stock is a service whose store holds refresh tokens that the load can replace.
type stock struct {
	*service
	handles []string
}

func (b *bench) stocked(name string, n int) (*stock, error) {
	h, err := b.service(name)
	if err != nil {
		return nil, err
	}
	owner, err := h.owner()
	h.stop()
	if err != nil {
		return nil, err
	}
	handles, err := fill(filepath.Join(h.data, "keystile.db"), n, h.app.ID, owner)
	if err != nil {
		return nil, err
	}
	rand.Shuffle(n, func(i, j int) { handles[i], handles[j] = handles[j], handles[i] })
	h, err = open(b.binary, h.data)
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
	big, err := b.stocked(fmt.Sprint("refresh-", n), n)
	if err != nil {
		return figure{}, err
	}
	defer big.stop()
	s, err := b.inTurns(small.load("1,000 tokens", 64), big.load(label+" tokens", 64))
	if err != nil {
		return figure{}, err
	}
	r, spread := ratio(s[1], s[0], rate)
	return figure{work: "rotation with " + label + " stored tokens, 64 clients", beside: "1,000 stored tokens", goal: 0.9,
		value: r, spread: spread, cpu: median(s[1], cpu), note: perSecond(s[1])}, nil
}

// besideCommits holds one and 64 clients against what one commit costs, measured in between.
func (b *bench) besideCommits(h *stock) ([]figure, error) {
	var one, many, commits, flushes []sample
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
		s, err := single.inTurns(h.load("1 client", 1), h.load("64 clients", 64))
		if err != nil {
			return nil, err
		}
		commits, flushes, one, many = append(commits, c), append(flushes, f), append(one, s[0]...), append(many, s[1]...)
	}
	b.loudest = max(b.loudest, single.loudest)
	wide, wideSpread := ratio(many, commits, rate)
	lone, loneSpread := ratio(one, commits, p50)
	bare, bareSpread := ratio(many, flushes, rate)
	lonely := fmt.Sprintf("one commit at a time, %s", perSecond(commits))
	return []figure{
		{work: "refresh rotation, durable, 64 clients", beside: lonely, goal: 3.5, value: wide, spread: wideSpread,
			cpu: median(many, cpu), note: perSecond(many)},
		{work: "refresh rotation, durable, 1 client, p50", beside: "one commit, p50", goal: 2, atMost: true, value: lone,
			spread: loneSpread,
			cpu:    median(one, cpu), note: fmt.Sprintf("%.0f us", median(one, p50))},
		{work: "refresh rotation, durable, 64 clients", beside: fmt.Sprintf("fdatasync of 4 KiB appended, %s",
			perSecond(flushes)), goal: noGoal, value: bare, spread: bareSpread},
	}, nil
}
