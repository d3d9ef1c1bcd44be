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
	return append(figures, figure{work: "binary, stripped", goal: 28, atMost: true, value: float64(info.Size()) / 1e6,
		unit: " MB"}), nil
}

func (b *bench) startWith(label string, n int, goal float64) ([]figure, error) {
	s, err := b.stocked(fmt.Sprint("start-", n), n)
	if err != nil {
		return nil, err
	}
	s.stop()
	var took, resident []float64
	for range max(b.turns, 5) {
		ms, bytes, err := s.restart(b.binary, b.idle)
		if err != nil {
			return nil, err
		}
		took, resident = append(took, ms), append(resident, bytes/1e6)
	}
	return []figure{
		{work: "cold start to the first 200, " + label, goal: goal, atMost: true, value: middle(took), unit: " ms"},
		{work: "idle memory, " + label, goal: 25, atMost: true, value: middle(resident), unit: " MB"},
	}, nil
}

// restart measures one start, in milliseconds, and what the process holds some time later.
func (s *stock) restart(binary string, idle time.Duration) (ms, bytes float64, err error) {
	began := time.Now()
	p, err := spawn("Listening on", nil, binary, "serve", "--data", filepath.Clean(s.data), "--listen", "127.0.0.1:0",
		"--base-url", origin, "--log-level", "warn")
	if err != nil {
		return 0, 0, err
	}
	defer p.stop()
	c, err := dial(p.address)
	if err != nil {
		return 0, 0, err
	}
	defer c.Close()
	if err = c.get("/healthz/ready", ""); err == nil {
		err = c.want(http.StatusOK)
	}
	took := time.Since(began)
	if err != nil {
		return 0, 0, err
	}
	time.Sleep(idle)
	bytes, err = p.memory()
	return float64(took.Microseconds()) / 1e3, bytes, err
}
