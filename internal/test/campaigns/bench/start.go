//go:build linux

package main

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"time"
)

// starts is row 10: how soon it answers, what it takes while idle, how large it is.
func (b *bench) starts() ([]figure, error) {
	figures, err := b.startWith("10,000 rows", 1e4, 25)
	if err != nil {
		return nil, err
	}
	if b.large {
		more, err := b.startWith("1,000,000 tokens", 1e6, 60)
		if err != nil {
			return nil, err
		}
		figures = append(figures, more...)
	}
	info, err := os.Stat(b.binary) // it was built without symbols, unless another one was named
	if err != nil {
		return nil, err
	}
	return append(figures, figure{work: "binary, stripped", goal: 42, atMost: true, value: float64(info.Size()) / 1e6,
		unit: " MB"}), nil
}

func (b *bench) startWith(label string, n int, goal float64) (figures []figure, err error) {
	some, stop, err := b.stocks(fmt.Sprint("start-", n), n)
	if err != nil {
		return nil, err
	}
	stop()
	all := make([][]start, len(some))
	for range max(b.turns, 5) {
		for i, s := range some {
			one, err := s.restart(b.idle)
			if err != nil {
				return nil, err
			}
			all[i] = append(all[i], one)
		}
	}
	for i, s := range all {
		if i > 0 {
			label += ", the other keystile"
		}
		figures = append(figures,
			figure{work: "cold start to the first 200, " + label, goal: goal, atMost: true, unit: " ms",
				value: middle(each(s, func(s start) float64 { return s.took })),
				note:  fmt.Sprintf("%.1f ms of processors", middle(each(s, func(s start) float64 { return s.cpu })))},
			figure{work: "idle memory, " + label, goal: 30, atMost: true, unit: " MB",
				value: middle(each(s, func(s start) float64 { return s.resident }))},
			figure{work: "of it anonymous, " + label, goal: 10, atMost: true, unit: " MB",
				value: middle(each(s, func(s start) float64 { return s.anonymous }))})
	}
	return figures, nil
}

// start holds the figures of one: milliseconds until it answered, and megabytes that it holds some time later.
type start struct{ took, cpu, resident, anonymous float64 }

func each(all []start, figure func(start) float64) (figures []float64) {
	for _, s := range all {
		figures = append(figures, figure(s))
	}
	return figures
}

// restart measures one start.
func (s *stock) restart(idle time.Duration) (one start, err error) {
	began := time.Now()
	p, err := spawn("Listening on", nil, s.binary, append([]string{"serve", "--data", filepath.Clean(s.data), "--listen",
		"127.0.0.1:0", "--base-url", origin, "--log-level", "warn"}, s.store...)...)
	if err != nil {
		return one, err
	}
	defer p.stop()
	c, err := dial(p.address)
	if err != nil {
		return one, err
	}
	defer c.Close()
	if err = c.get("/healthz/ready", ""); err == nil {
		err = c.want(http.StatusOK)
	}
	one.took = float64(time.Since(began).Microseconds()) / 1e3
	if err != nil {
		return one, err
	}
	used, err := p.cpu()
	if err != nil {
		return one, err
	}
	one.cpu = float64(used.Microseconds()) / 1e3
	time.Sleep(idle)
	one.resident, one.anonymous, err = p.memory()
	return one, err
}
