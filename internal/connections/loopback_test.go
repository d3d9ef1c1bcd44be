package connections

import (
	"context"
	"io"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// local is a real server on the loopback interface. Its connections are given to some
// functions first.
func local(t *testing.T, c Config, h http.HandlerFunc, first ...func(*net.TCPConn)) (l *Limits, address string) {
	t.Helper()
	at, err := Listen(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l = New(c)
	server := &http.Server{Handler: h, ReadHeaderTimeout: 5 * time.Second}
	server.ConnContext = func(ctx context.Context, nc net.Conn) context.Context {
		for _, f := range first {
			f(nc.(*conn).Conn.(*net.TCPConn))
		}
		return ctx
	}
	guarded := l.Guard(server, at)
	over := make(chan error)
	go func() { over <- server.Serve(guarded) }()
	t.Cleanup(func() { server.Close(); <-over })
	return l, at.Addr().String()
}

// from dials from an address of this machine.
func from(t *testing.T, source, to string) *net.TCPConn {
	t.Helper()
	d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(source)}, Timeout: 10 * time.Second}
	nc, err := d.Dial("tcp", to)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { nc.Close() })
	return nc.(*net.TCPConn)
}

var sixteenMiB = make([]byte, 16<<20)

func echoOrMuch(w http.ResponseWriter, r *http.Request) {
	switch r.URL.Path {
	case "/much":
		w.Write(sixteenMiB)
	case "/ping":
		io.WriteString(w, "pong")
	default:
		readAll(w, r)
	}
}

// honest asks again and again until the test is over with, and reports the slowest answer.
func honest(t *testing.T, ctx context.Context, address string) (asked int, slowest time.Duration) {
	d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 2)}}
	client := http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{DialContext: d.DialContext,
		DisableKeepAlives: true}}
	for ; ctx.Err() == nil; asked++ {
		began := time.Now()
		resp, err := client.Get("http://" + address + "/ping")
		if err != nil {
			t.Errorf("an honest client is not answered: %v", err)
			return asked, slowest
		}
		io.Copy(io.Discard, resp.Body)
		resp.Body.Close()
		slowest = max(slowest, time.Since(began))
		time.Sleep(10 * time.Millisecond)
	}
	return asked, slowest
}

func TestThousandsOfSlowConnectionsGoAndOthersAreAnsweredMeanwhile(t *testing.T) {
	if testing.Short() {
		t.Skip("3,500 connections take seconds")
	}
	if canBind, err := net.Listen("tcp", "127.0.0.2:0"); err != nil {
		t.Skip("this machine has one loopback address")
	} else {
		canBind.Close()
	}
	bodies, readers := 3000, 500
	if capacity := (files() - 200) / 2; capacity < bodies+readers {
		bodies, readers = capacity*6/7, capacity/7
	}
	l, address := local(t, Config{PerAddress: bodies + readers, Grace: 2 * time.Second}, echoOrMuch)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var asked int
	var slowest time.Duration
	var others sync.WaitGroup
	others.Go(func() { asked, slowest = honest(t, ctx, address) })

	var all []*net.TCPConn
	for range readers {
		nc := from(t, "127.0.0.1", address)
		nc.SetReadBuffer(4 << 10)
		io.WriteString(nc, "GET /much HTTP/1.1\r\nHost: h\r\n\r\n")
		all = append(all, nc)
	}
	for range bodies {
		nc := from(t, "127.0.0.1", address)
		io.WriteString(nc, post(5000)+"half")
		all = append(all, nc)
	}
	began := time.Now()
	t.Logf("%d connections are made", len(all))
	var alive atomic.Int32
	alive.Store(int32(len(all)))
	var ends sync.WaitGroup
	for _, nc := range all[readers:] {
		ends.Go(func() {
			nc.SetReadDeadline(began.Add(20 * time.Second))
			if _, err := io.Copy(io.Discard, nc); err == nil {
				alive.Add(-1)
			}
		})
	}
	for time.Since(began) < 20*time.Second && l.Stats().CutBody+l.Stats().CutAnswer < uint64(len(all)) {
		time.Sleep(20 * time.Millisecond)
	}
	ends.Wait()
	stop()
	others.Wait()
	if n := l.Stats().Open; n > 10 {
		t.Errorf("%d are open", n)
	}
	if n := alive.Load(); n != int32(readers) {
		t.Errorf("%d of %d half bodies were not closed", int(n)-readers, bodies)
	}
	if s := l.Stats(); s.CutBody != uint64(bodies) || s.CutAnswer != uint64(readers) {
		t.Errorf("counted %+v", s)
	}
	if slowest > 8*time.Second || asked == 0 {
		t.Errorf("of %d honest requests the slowest took %v", asked, slowest)
	}
	t.Logf("gone after %v; of %d honest requests the slowest took %v", time.Since(began), asked, slowest)
}

func TestConnectionOverTheLimitIsClosedBeforeAnythingIsRead(t *testing.T) {
	_, address := local(t, Config{PerAddress: 3}, echoOrMuch)
	for i := range 5 {
		nc, err := net.Dial("tcp", address)
		if err != nil && i >= 3 {
			continue // it was closed before the dial was through
		}
		if err != nil {
			t.Fatal(err)
		}
		defer nc.Close()
		nc.SetReadDeadline(time.Now().Add(10 * time.Second))
		if i < 3 {
			io.WriteString(nc, "GET /ping HTTP/1.1\r\nHost: h\r\n\r\n")
			if n, err := nc.Read(make([]byte, 4)); n != 4 {
				t.Errorf("connection %d was answered with %d bytes, %v", i, n, err)
			}
			continue
		}
		n, err := nc.Read(make([]byte, 1))
		if late, ok := err.(net.Error); n != 0 || err == nil || ok && late.Timeout() {
			t.Errorf("connection %d is open: %d, %v", i, n, err)
		}
	}
}

// A large buffer of the kernel's accepts nothing for long although its other end moves.
func TestSteadyReaderIsSeenThroughTheKernelsBuffer(t *testing.T) {
	if testing.Short() {
		t.Skip("reads slowly")
	}
	if _, ok := queued(new(net.TCPConn)); ok {
		t.Fatal("a connection that is closed has a queue")
	}
	l, address := local(t, Config{Grace: time.Second}, echoOrMuch, func(nc *net.TCPConn) { nc.SetWriteBuffer(1 << 20) })
	nc := from(t, "127.0.0.1", address)
	if _, ok := queued(nc); !ok {
		t.Skip("this system does not tell what its buffers hold")
	}
	nc.SetReadBuffer(4 << 10)
	io.WriteString(nc, "GET /much HTTP/1.1\r\nHost: h\r\n\r\n")
	for began := time.Now(); time.Since(began) < 3*time.Second; time.Sleep(20 * time.Millisecond) {
		if _, err := io.ReadFull(nc, make([]byte, 2<<10)); err != nil {
			t.Fatalf("cut after %v: %v, %+v", time.Since(began), err, l.Stats())
		}
	}
	for began := time.Now(); l.Stats().Open > 0; time.Sleep(5 * time.Millisecond) { // it stops reading
		if time.Since(began) > 10*time.Second {
			t.Fatal("it is open")
		}
	}
}
