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
	"sync"
	"sync/atomic"
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
	most int      // connections that it may hold; 0: as many as there is room for
	free bool     // it leaves a quarter of the room
}

func assaults() []assault {
	many := make([]string, 20)
	for i := range many {
		many[i] = fmt.Sprintf("127.0.1.%d", i+1)
	}
	return []assault{
		{name: "one address", from: []string{"127.0.0.9"}, most: perAddress},
		{name: "20 addresses, and the limit of each is raised", from: many, args: []string{"--limits-connections-per-ip", "100000"}},
		{name: "a trusted proxy", from: []string{"127.0.0.9"}, args: []string{"--trusted-proxies", "127.0.0.9"}, free: true},
	}
}

func connections(ctx context.Context, o options, data string) (v verdict, err error) {
	room := roomFor(openFiles())
	if all := drippers + deaf; room < all*6/5 {
		o.printf("A server may open %d files here, so there is room for %d connections; for all %d to be held it needs some 30,000 (ulimit -n).\n", openFiles(), room, all)
	}
	for i, a := range assaults() {
		if !strings.Contains(a.name, o.only) {
			continue
		}
		s, err := start(o, fmt.Sprintf("%s%d", data, i), append(a.args, "--limits-per-ip", strconv.Itoa(perMinute))...)
		if err != nil {
			return v, err
		}
		err = a.run(ctx, o, s, room, &v)
		s.kill()
		if err != nil {
			return v, err
		}
	}
	return v, nil
}

// openFiles is how many files a child may open. Go raises the soft limit to the hard one.
func openFiles() int {
	var l syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &l); err != nil {
		return 1024
	}
	return int(l.Max)
}

// roomFor is how many connections a server accepts that may open so many files.
func roomFor(files int) int { return max(1, (files-min(files/4, 256))/2) }

// run attacks and watches.
func (a assault) run(ctx context.Context, o options, s *server, room int, v *verdict) error {
	ctx, giveUp := context.WithCancel(ctx)
	defer giveUp()
	base, err := s.metrics()
	if err != nil {
		return err
	}
	n, m := o.of(drippers), o.of(deaf)
	if most := room * 3 / 4; a.free && n+m > most {
		n, m = n*most/(n+m), m*most/(n+m)
	}
	var attack sync.WaitGroup
	attack.Go(func() { a.hold(ctx, s, n, m) })
	defer attack.Wait()
	defer giveUp()
	w := watch{assault: a, server: s, base: base, began: time.Now()}
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

// hold opens the connections. Who is refused tries again for a while.
func (a assault) hold(ctx context.Context, s *server, drip, deaf int) {
	began := time.Now()
	var all sync.WaitGroup
	dials := make(chan struct{}, dialAtOnce)
	for i := range drip + deaf {
		attacker := attacker{from: a.from[i%len(a.from)], address: s.address, dials: dials, act: dripBody}
		if i%6 == 5 && deaf > 0 {
			deaf--
			attacker.act = askUnread
		}
		all.Go(func() {
			for ctx.Err() == nil && time.Since(began) < comeAgain {
				if attacker.attack(ctx) > time.Second { // it was held
					return
				}
				pauseFor(ctx, dripEvery)
			}
		})
	}
	all.Wait()
}

type attacker struct {
	from, address string
	dials         chan struct{}
	act           func(context.Context, net.Conn)
}

// attack holds one connection as long as it can, and says how long.
func (a attacker) attack(ctx context.Context) time.Duration {
	a.dials <- struct{}{}
	dialer := net.Dialer{Timeout: patience, LocalAddr: &net.TCPAddr{IP: net.ParseIP(a.from)}, Control: smallBuffer}
	conn, err := dialer.DialContext(ctx, "tcp", a.address)
	<-a.dials
	if err != nil {
		return 0
	}
	defer conn.Close()
	stop := context.AfterFunc(ctx, func() { conn.Close() })
	defer stop()
	began := time.Now()
	a.act(ctx, conn)
	return time.Since(began)
}

// smallBuffer keeps the kernel from reading in place of who does not.
func smallBuffer(_, _ string, c syscall.RawConn) error {
	return c.Control(func(fd uintptr) { syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_RCVBUF, 4096) })
}

// dripBody sends a body byte by byte until it is told to stop.
func dripBody(ctx context.Context, conn net.Conn) {
	_, err := fmt.Fprint(conn, "POST /oauth/token HTTP/1.1\r\nHost: 127.0.0.1:9\r\nContent-Type: "+aForm+"\r\nContent-Length: 5000\r\n\r\ngrant_type=")
	for err == nil && ctx.Err() == nil {
		pauseFor(ctx, dripEvery)
		_, err = io.WriteString(conn, "x")
	}
}

// askUnread asks for much, does not read it, and notices only that the connection is reset.
func askUnread(ctx context.Context, conn net.Conn) {
	_, err := io.WriteString(conn, strings.Repeat("GET /openapi.json HTTP/1.1\r\nHost: 127.0.0.1:9\r\n\r\n", 50))
	for err == nil && ctx.Err() == nil {
		pauseFor(ctx, dripEvery)
		_, err = io.WriteString(conn, "G")
	}
}

func pauseFor(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// watch is what is seen of an assault.
type watch struct {
	assault
	server *server
	base   figures
	began  time.Time

	answered atomic.Int64
	slowest  time.Duration
	when     time.Duration // the slowest answer came, after the beginning
	failures []string
	peak     figures
	last     figures
	gone     time.Duration
}

// untilGone watches until the server is as it was, or the time is over.
func (w *watch) untilGone(ctx context.Context) error {
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
func (w *watch) hurried(ctx context.Context, giveUp func()) error {
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

func (w *watch) look() error {
	now, err := w.server.metrics()
	if err != nil {
		return err
	}
	w.last = now
	w.peak.open, w.peak.goroutines, w.peak.files = max(w.peak.open, now.open), max(w.peak.goroutines, now.goroutines), max(w.peak.files, now.files)
	return nil
}

func (w *watch) isBack() bool {
	return w.last.goroutines <= w.base.goroutines+mostLeft && w.last.files <= w.base.files+mostLeft
}

// honest is somebody at another address, who opens a connection for each request.
func (w *watch) honest(ctx context.Context) (stop func(), done chan struct{}) {
	ctx, stop = context.WithCancel(ctx)
	dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(honestAddr)}}
	client := &http.Client{Timeout: patience, Transport: &http.Transport{DisableKeepAlives: true, DialContext: dialer.DialContext}}
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
				w.slowest, w.when = took, time.Since(w.began)
			}
			w.answered.Add(1)
			pauseFor(ctx, 50*time.Millisecond)
		}
	}()
	return stop, done
}

func (w *watch) report(o options, v *verdict, n int) {
	o.printf("\n%s, %d connections\n", w.name, n)
	o.printf("  open at most %d; goroutines %d, at most %d, then %d; files %d, at most %d, then %d\n", w.peak.open,
		w.base.goroutines, w.peak.goroutines, w.last.goroutines, w.base.files, w.peak.files, w.last.files)
	o.printf("  refused %d; cut for their body %d, for not reading %d\n", w.last.refused, w.last.cutBody, w.last.cutAnswer)
	o.printf("  somebody else was answered %d times, the slowest took %.3f s, %.0f s after the beginning\n", w.answered.Load(), w.slowest.Seconds(), w.when.Seconds())
	_, held := w.server.memory()
	o.printf("  memory: %.0f MB at most\n", mb(held))
	if !o.hurry {
		o.printf("  over after %.0f s\n", w.gone.Seconds())
		v.want(w.slowest <= honestWait, "%s: somebody else waited %.3f s", w.name, w.slowest.Seconds())
	}
	v.want(len(w.failures) == 0, "%s: %d times somebody else was not answered: %.3q", w.name, len(w.failures), w.failures)
	v.want(w.isBack(), "%s: after %v there are %d goroutines and %d files, at the beginning there were %d and %d", w.name, allGone,
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
