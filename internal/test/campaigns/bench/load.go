//go:build linux

package main

import (
	"errors"
	"fmt"
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
	n        int // units of work
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
	if err := errors.Join(append(errs, err)...); err != nil {
		return s, err
	}
	every := slices.Sorted(slices.Values(slices.Concat(took...)))
	n := len(every)
	return sample{
		rate: float64(n) / elapsed.Seconds(), cpu: float64((after - before).Microseconds()) / float64(n),
		p50: every[n/2], p99: every[n*99/100], n: n,
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

// rounds measures the contenders after a short round each to warm up: in turns, so that a noisy moment hits them all,
// or all at the same time, which is fair on a machine where no moment is quiet. The order of turns is drawn for each
// round, because the one that works after the same contender each time gains or loses by what that left behind: as
// much as a twentieth. The result has a line of samples for each contender.
func (b *bench) rounds(contenders ...contender) ([][]sample, error) {
	round := b.inTurns
	if b.pair {
		round = b.atOnce
	}
	samples := make([][]sample, len(contenders))
	if _, _, err := round(contenders, b.seconds/4, contender.measure); err != nil {
		return nil, err
	}
	for again := b.turns * patientRounds; len(samples[0]) < b.turns; {
		some, others, err := round(contenders, b.seconds, b.recorded)
		if err != nil {
			return nil, err
		}
		if others > tooLoud && again > 0 && !b.pair {
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

// measuring measures a contender for a time.
type measuring func(contender, time.Duration) (sample, error)

// recorded is measure with the tools attached that are asked for.
func (b *bench) recorded(k contender, d time.Duration) (sample, error) {
	finish, err := b.record.start(k)
	if err != nil {
		return sample{}, err
	}
	s, err := k.measure(d)
	return s, errors.Join(err, finish(s))
}

// inTurns lets each contender work once, and returns the most that others took meanwhile.
func (b *bench) inTurns(contenders []contender, d time.Duration, measure measuring) (samples []sample, others float64,
	err error) {
	samples = make([]sample, len(contenders))
	for _, i := range rand.Perm(len(contenders)) {
		around, err := listen(contenders[i].on)
		if err != nil {
			return nil, 0, err
		}
		if samples[i], err = measure(contenders[i], d); err != nil {
			return nil, 0, fmt.Errorf("%s: %w", contenders[i].name, err)
		}
		took, err := around.share()
		if err != nil {
			return nil, 0, err
		}
		others = max(others, took)
	}
	return samples, others, nil
}

// atOnce lets all contenders work at the same time, and returns what others took meanwhile.
func (b *bench) atOnce(contenders []contender, d time.Duration, measure measuring) (samples []sample, others float64,
	err error) {
	var servers []*process
	for _, k := range contenders {
		servers = append(servers, k.on)
	}
	around, err := listen(servers...)
	if err != nil {
		return nil, 0, err
	}
	samples, errs := make([]sample, len(contenders)), make([]error, len(contenders))
	var all sync.WaitGroup
	for i, k := range contenders {
		all.Go(func() {
			if samples[i], errs[i] = measure(k, d); errs[i] != nil {
				errs[i] = fmt.Errorf("%s: %w", k.name, errs[i])
			}
		})
	}
	all.Wait()
	others, err = around.share()
	return samples, others, errors.Join(append(errs, err)...)
}

// speed is the figure by which contenders are held against each other: their rates in turns. Those who work at the
// same time share the processors, so it is then how much each does in a second of its server's processors.
func (b *bench) speed() func(sample) float64 {
	if b.pair {
		return perProcessor
	}
	return rate
}
