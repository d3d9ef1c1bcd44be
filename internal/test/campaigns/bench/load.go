//go:build linux

package main

import (
	"errors"
	"math/rand/v2"
	"slices"
	"sync"
	"time"
)

// contender is a server with the work it is given.
type contender struct {
	name    string
	on      *process
	clients int
	step    func(client int, c *conn) error // one unit of work
}

// sample holds the measurements of one round.
type sample struct {
	rate     float64 // units of work a second
	cpu      float64 // microseconds of the server's processors, of each unit
	p50, p99 time.Duration
	others   float64 // share of the processors that others took
}

// measure lets the clients work for a time.
func (k contender) measure(d time.Duration) (s sample, err error) {
	conns := make([]*conn, k.clients)
	for i := range conns {
		if conns[i], err = dial(k.on.address); err != nil {
			return s, err
		}
		defer conns[i].Close()
	}
	before, err := k.on.cpu()
	if err != nil {
		return s, err
	}
	around, err := listen(k.on)
	if err != nil {
		return s, err
	}
	took := make([][]time.Duration, k.clients)
	errs := make([]error, k.clients)
	var all sync.WaitGroup
	began := time.Now()
	for i, c := range conns {
		all.Go(func() { took[i], errs[i] = k.until(began.Add(d), i, c) })
	}
	all.Wait()
	elapsed := time.Since(began)
	after, err := k.on.cpu()
	others, loud := around.share()
	if err := errors.Join(append(errs, err, loud)...); err != nil {
		return s, err
	}
	every := slices.Sorted(slices.Values(slices.Concat(took...)))
	n := len(every)
	return sample{
		rate: float64(n) / elapsed.Seconds(), cpu: float64((after - before).Microseconds()) / float64(n),
		p50: every[n/2], p99: every[n*99/100], others: others,
	}, nil
}

func (k contender) until(end time.Time, client int, c *conn) (took []time.Duration, err error) {
	for last := time.Now(); ; {
		if err := k.step(client, c); err != nil {
			return took, err
		}
		now := time.Now()
		took = append(took, now.Sub(last))
		if last = now; now.After(end) {
			return took, nil
		}
	}
}

// inTurns measures the contenders one after the other, so that a noisy moment hits them all, after a
// short round each to warm up. Their order is drawn for each round, because who works after the same
// contender each time gains or loses by what that left behind: as much as a twentieth. The result
// has a line of samples for each contender.
func (b *bench) inTurns(contenders ...contender) ([][]sample, error) {
	samples := make([][]sample, len(contenders))
	if _, _, err := round(contenders, b.seconds/4); err != nil {
		return nil, err
	}
	for again := b.turns * patientRounds; len(samples[0]) < b.turns; {
		some, others, err := round(contenders, b.seconds)
		if err != nil {
			return nil, err
		}
		if others > tooLoud && again > 0 {
			again--
			continue
		}
		b.loudest = max(b.loudest, others)
		for i, s := range some {
			samples[i] = append(samples[i], s)
		}
	}
	return samples, nil
}

// round lets each contender work once, and returns the most that others took meanwhile.
func round(contenders []contender, d time.Duration) (samples []sample, others float64, err error) {
	samples = make([]sample, len(contenders))
	for _, i := range rand.Perm(len(contenders)) {
		if samples[i], err = contenders[i].measure(d); err != nil {
			return nil, 0, errors.Join(errors.New(contenders[i].name), err)
		}
		others = max(others, samples[i].others)
	}
	return samples, others, nil
}
