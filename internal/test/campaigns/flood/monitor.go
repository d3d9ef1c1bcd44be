package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

// monitor observes the server and the honest users during an attack.
type monitor struct {
	assault
	server *server
	base   figures
	began  time.Time

	answered atomic.Int64
	slowest  time.Duration
	dial     time.Duration // of it, until there was a connection
	when     time.Duration // the slowest answer came, after the beginning
	failures []string
	peak     figures
	last     figures
	gone     time.Duration
}

// untilGone watches until the server is as it was, or the time is over.
func (w *monitor) untilGone(ctx context.Context) error {
	stop, done := w.honest(ctx)
	defer func() { stop(); <-done }()
	for time.Since(w.began) < allGone {
		pauseFor(ctx, time.Second)
		if err := w.look(); err != nil || ctx.Err() != nil {
			return err
		}
		if w.gone = time.Since(w.began); w.isBack() && w.gone > comeAgain+dripEvery {
			return nil
		}
	}
	return nil
}

// hurried does not wait for the deadlines: the attackers leave when somebody else was answered.
func (w *monitor) hurried(ctx context.Context, giveUp func()) error {
	stop, done := w.honest(ctx)
	for w.answered.Load() < answersWant || w.peak.open < 2 {
		if err := w.look(); err != nil {
			return err
		}
	}
	stop()
	<-done
	giveUp()
	for !w.isBack() {
		if err := w.look(); err != nil {
			return err
		}
	}
	return nil
}

func (w *monitor) look() error {
	now, err := w.server.metrics()
	if err != nil {
		return err
	}
	w.last = now
	w.peak.open, w.peak.goroutines, w.peak.files = max(w.peak.open, now.open), max(w.peak.goroutines, now.goroutines),
		max(w.peak.files, now.files)
	return nil
}

func (w *monitor) isBack() bool {
	return w.last.goroutines <= w.base.goroutines+mostLeft && w.last.files <= w.base.files+mostLeft
}

// honest is somebody at another address, who opens a connection for each request.
func (w *monitor) honest(ctx context.Context) (stop func(), done chan struct{}) {
	ctx, stop = context.WithCancel(ctx)
	dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(honestAddr)}}
	var dialed atomic.Int64
	dial := func(ctx context.Context, network, address string) (net.Conn, error) {
		began := time.Now()
		defer func() { dialed.Store(int64(time.Since(began))) }()
		return dialer.DialContext(ctx, network, address)
	}
	client := &http.Client{Timeout: patience, Transport: &http.Transport{DisableKeepAlives: true, DialContext: dial}}
	done = make(chan struct{})
	go func() {
		defer close(done)
		for ctx.Err() == nil {
			began := time.Now()
			resp, err := client.Get("http://" + w.server.address + "/.well-known/openid-configuration")
			if err == nil {
				io.Copy(io.Discard, resp.Body)
				resp.Body.Close()
			}
			switch {
			case err != nil:
				w.failures = append(w.failures, err.Error())
			case resp.StatusCode != http.StatusOK:
				w.failures = append(w.failures, resp.Status)
			}
			if took := time.Since(began); took > w.slowest {
				w.slowest, w.dial, w.when = took, time.Duration(dialed.Load()), time.Since(w.began)
			}
			w.answered.Add(1)
			pauseFor(ctx, 50*time.Millisecond)
		}
	}()
	return stop, done
}

func (w *monitor) report(o options, v *verdict, n int) {
	o.printf("\n%s, %d connections\n", w.name, n)
	o.printf("  open at most %d; goroutines %d, at most %d, then %d; files %d, at most %d, then %d\n", w.peak.open,
		w.base.goroutines, w.peak.goroutines, w.last.goroutines, w.base.files, w.peak.files, w.last.files)
	o.printf("  refused %d; cut for their body %d, for not reading %d\n", w.last.refused, w.last.cutBody, w.last.cutAnswer)
	o.printf("  somebody else was answered %d times, the slowest took %.3f s (%.3f s to connect), %.0f s after the "+
		"beginning\n", w.answered.Load(), w.slowest.Seconds(), w.dial.Seconds(), w.when.Seconds())
	_, held := w.server.memory()
	o.printf("  memory: %.0f MB at most\n", mb(held))
	if !o.hurry {
		o.printf("  over after %.0f s\n", w.gone.Seconds())
		v.want(w.slowest <= honestWait, "%s: somebody else waited %.3f s", w.name, w.slowest.Seconds())
	}
	v.want(len(w.failures) == 0, "%s: %d times somebody else was not answered: %.3q", w.name, len(w.failures), w.failures)
	v.want(w.isBack(), "%s: after %v there are %d goroutines and %d files, at the beginning there were %d and %d", w.name,
		allGone,
		w.last.goroutines, w.last.files, w.base.goroutines, w.base.files)
	if few := w.peak.open - mostLeft; w.peak.open > 0 && w.most > 0 {
		v.want(few <= w.most, "%s holds %d connections, want at most %d", w.name, few, w.most)
	}
}

// figures are some of the server's metrics.
type figures struct{ open, goroutines, files, refused, cutBody, cutAnswer int }

var metricsClient = &http.Client{Timeout: patience}

func (s *server) metrics() (f figures, err error) {
	resp, err := metricsClient.Get("http://" + s.admin + "/metrics")
	if err != nil {
		return f, err
	}
	defer resp.Body.Close()
	into := map[string]*int{
		`keystile_connections_open{listener="public"}`: &f.open, "go_goroutines": &f.goroutines, "process_open_fds": &f.files,
		`keystile_connections_refused_total{listener="public",reason="address"}`: &f.refused,
		`keystile_connections_cut_total{listener="public",reason="body"}`:        &f.cutBody,
		`keystile_connections_cut_total{listener="public",reason="answer"}`:      &f.cutAnswer,
	}
	lines := bufio.NewScanner(resp.Body)
	for lines.Scan() {
		name, value, _ := strings.Cut(lines.Text(), " ")
		if at := into[name]; at != nil {
			n, err := strconv.ParseFloat(value, 64)
			if err != nil {
				return f, err
			}
			*at = int(n)
		}
	}
	if f.goroutines == 0 {
		return f, fmt.Errorf("the admin listener answers %s without figures", resp.Status)
	}
	return f, lines.Err()
}
