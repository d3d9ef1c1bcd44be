package upstream

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// asked sends so many requests to hosts, whose answers are read when all have been sent, so that each has a connection.
func asked(t *testing.T, transport http.RoundTripper, hosts ...string) {
	t.Helper()
	var open []*http.Response
	for _, host := range hosts {
		r, _ := http.NewRequest("GET", "http://"+host+"/", nil)
		res, err := transport.RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		open = append(open, res)
	}
	for _, res := range open {
		if _, err := res.Body.Read(make([]byte, 100)); err == nil {
			t.Fatal("the body was not read to its end")
		}
		res.Body.Close()
	}
}

func idle(t *Transport) int {
	t.idle.mu.Lock()
	defer t.idle.mu.Unlock()
	return t.idle.n
}

// forgotten reports whether nothing is left of hosts, connections and timers.
func forgotten(t *Transport) bool {
	t.idle.mu.Lock()
	defer t.idle.mu.Unlock()
	return t.idle.n == 0 && len(t.idle.hosts) == 0 && t.idle.timer == nil
}

func always(n int) *played { // as many answers as anybody asks for
	p := &played{}
	for range n {
		p.answers = append(p.answers, reply{bytes: whole[0]})
	}
	return p
}

func TestIdleConnectionIsClosedAfterItsTime(t *testing.T) {
	for _, life := range []time.Duration{time.Second, 90 * time.Second, time.Hour} {
		synctest.Test(t, func(t *testing.T) {
			p := always(10)
			next := bounds(p.dial)
			next.IdleConnTimeout = life
			transport := ours(next)
			asked(t, transport, "a")
			time.Sleep(life - time.Millisecond)
			synctest.Wait()
			if p.open() != 1 {
				t.Errorf("%v: %d connections are open a moment before, want 1", life, p.open())
			}
			asked(t, transport, "a") // and its time begins again
			time.Sleep(life - time.Millisecond)
			synctest.Wait()
			if p.open() != 1 || p.dials != 1 {
				t.Errorf("%v: %d connections are open, %d dialled, want 1", life, p.open(), p.dials)
			}
			time.Sleep(min(life/4, 11*time.Second))
			synctest.Wait()
			if p.open() != 0 || !forgotten(transport) {
				t.Errorf("%v: %d connections are open a while behind, want none, and no timer", life, p.open())
			}
		})
	}
}

func TestConnectionThatTheServiceClosesIsClosedWithinSeconds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := always(1)
		transport := ours(bounds(p.dial))
		asked(t, transport, "a")
		p.conns[0].end()
		time.Sleep(look)
		synctest.Wait()
		if p.open() != 0 {
			t.Errorf("%d connections are open, want none", p.open())
		}
		transport.CloseIdleConnections()
	})
}

// end is the service's closing of its side.
func (c *playedConn) end() {
	c.of.mu.Lock()
	defer c.of.mu.Unlock()
	c.ended = true
	c.came.Broadcast()
}

func TestIdleConnectionsOfAHostAndInAllAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := always(100)
		next := bounds(p.dial)
		next.MaxIdleConnsPerHost, next.MaxIdleConns, next.IdleConnTimeout = 3, 4, time.Minute
		transport := ours(next)
		asked(t, transport, "a", "a", "a", "a", "a")
		if p.open() != 3 || idle(transport) != 3 {
			t.Errorf("of one host %d are open, want 3", p.open())
		}
		time.Sleep(20 * time.Second)
		asked(t, transport, "b", "b")
		if p.open() != 4 || idle(transport) != 4 {
			t.Errorf("in all %d are open, want 4", p.open())
		}
		dials := p.dials
		if asked(t, transport, "b", "b", "a", "a"); p.dials != dials {
			t.Errorf("%d were dialled, want none: the one that had been idle longest was closed", p.dials-dials)
		}
		for i := range 50 {
			asked(t, transport, fmt.Sprint("host", i))
		}
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		if p.open() != 0 || !forgotten(transport) {
			t.Errorf("%d connections are open, their hosts forgotten %t", p.open(), forgotten(transport))
		}
	})
}

func TestAnswerWithoutABodyLetsGoOfItsConnectionAtOnce(t *testing.T) {
	for _, answer := range []string{whole[0], whole[1], "HTTP/1.1 204 N\r\n\r\n",
		"HTTP/1.1 304 N\r\nContent-Length: 1\r\n\r\n"} {
		p := &played{answers: []reply{{bytes: strings.TrimSuffix(answer, "hello")}}}
		transport := ours(bounds(p.dial))
		if _, err := transport.RoundTrip(get("HEAD")); err != nil || idle(transport) != 1 {
			t.Errorf("%q: %v, %d connections are idle, want 1", answer, err, idle(transport))
		}
		transport.CloseIdleConnections()
	}
}

func TestCallThatIsOverIsNotSent(t *testing.T) {
	p := always(2)
	transport := ours(bounds(p.dial))
	asked(t, transport, "api.example.test")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := transport.RoundTrip(get("GET").WithContext(ctx)); err != context.Canceled || len(p.sent) != 1 {
		t.Errorf("%v, %d requests were sent, want the first one alone", err, len(p.sent))
	}
	transport.CloseIdleConnections()
}

func TestRequestOfWhichAPartWasWrittenIsNotSentAgain(t *testing.T) {
	for wrote, want := range map[int]int{0: 2, 5: 1} {
		p := always(3)
		transport := ours(bounds(p.dial))
		asked(t, transport, "api.example.test")
		p.conns[0].breaks, p.conns[0].wrote = true, wrote
		o := ask(transport, get("POST"))
		if p.dials != want || (o.Failed == "") != (wrote == 0) {
			t.Errorf("behind %d bytes: %d connections, want %d; %+v", wrote, p.dials, want, o)
		}
		transport.CloseIdleConnections()
	}
}

func TestConnectionOfACallThatFailsIsNotUsedAgain(t *testing.T) {
	p := &played{answers: []reply{{bytes: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nz\r\n"}}}
	transport := ours(bounds(p.dial))
	if o := ask(transport, get("GET")); o.BodyFailed == "" || idle(transport) != 0 || p.open() != 0 {
		t.Errorf("%+v, %d connections are idle, %d open, want none", o, idle(transport), p.open())
	}
	synctest.Test(t, func(t *testing.T) {
		p := always(1)
		transport := ours(bounds(p.dial))
		ctx, cancel := context.WithCancel(t.Context())
		res, err := transport.RoundTrip(get("GET").WithContext(ctx))
		if err != nil {
			t.Fatal(err)
		}
		cancel()
		synctest.Wait()
		res.Body.Read(make([]byte, 100)) // what has come already
		if idle(transport) != 0 || p.open() != 0 {
			t.Errorf("%d connections are idle, %d open behind the end of the context, want none", idle(transport), p.open())
		}
	})
}

func TestConnectionUsedLastIsUsedNext(t *testing.T) {
	p := always(10)
	transport := ours(bounds(p.dial))
	asked(t, transport, "a", "a", "a")
	last := p.conns[2]
	p.mu.Lock()
	p.sent = nil
	p.mu.Unlock()
	asked(t, transport, "a")
	asked(t, transport, "a")
	for _, c := range transport.idle.hosts["a"].conns[:2] {
		if c.Conn == last {
			t.Error("the connection used last is not at the end")
		}
	}
	transport.CloseIdleConnections()
}

func TestClosingReachesConnectionsInUseToo(t *testing.T) {
	p := always(10)
	transport := ours(bounds(p.dial))
	asked(t, transport, "a", "a")
	res, err := transport.RoundTrip(get("GET"))
	if err != nil {
		t.Fatal(err)
	}
	transport.CloseIdleConnections()
	if p.open() != 1 {
		t.Errorf("%d connections are open, want the one in use", p.open())
	}
	res.Body.Read(make([]byte, 100))
	if p.open() != 0 || !forgotten(transport) {
		t.Errorf("%d connections are open when it is read, want none", p.open())
	}
	asked(t, transport, "a")
	if p.open() != 1 {
		t.Errorf("after another request %d connections are open, want 1", p.open())
	}
	transport.CloseIdleConnections()
}

func TestServiceThatIsSlowIsATimeout(t *testing.T) {
	for _, sent := range []string{"", "HTTP/1.1 200 OK\r\n", "HTTP/1.1 103 E\r\n\r\n"} {
		synctest.Test(t, func(t *testing.T) {
			p := &played{answers: []reply{{bytes: whole[0]}, {bytes: sent, late: whole[0], after: time.Minute + time.Second}}}
			next := bounds(p.dial)
			next.ResponseHeaderTimeout = time.Minute
			transport, began := ours(next), time.Now()
			asked(t, transport, "api.example.test")
			_, err := transport.RoundTrip(get("GET"))
			slow := net.Error(nil)
			if !errors.As(err, &slow) || !slow.Timeout() || !errors.Is(err, context.DeadlineExceeded) ||
				time.Since(began) != time.Minute || p.dials != 1 || p.open() != 0 {
				t.Errorf("%q: %v after %v, %d connections, %d open; want a timeout, and no second try", sent, err,
					time.Since(began),
					p.dials, p.open())
			}
		})
	}
}

func TestBodyAndIdlenessMayTakeLongerThanTheHeader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begins, ends := whole[0][:len(whole[0])-2], whole[0][len(whole[0])-2:]
		chunks := "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nhel\r\n"
		p := &played{answers: []reply{{bytes: whole[0]}, {bytes: begins, late: ends, after: time.Hour}, {bytes: whole[0]},
			{bytes: chunks, late: "2\r\nlo\r\n0\r\n\r\n", after: time.Hour}}}
		next := bounds(p.dial)
		next.ResponseHeaderTimeout = time.Minute
		transport := ours(next)
		for i := range 4 {
			if o := ask(transport, get("GET")); o.Body != "hello" || o.BodyFailed != "" {
				t.Errorf("answer %d: %+v", i+1, o)
			}
			time.Sleep(2 * time.Minute)
		}
		if p.dials != 1 {
			t.Errorf("%d connections, want 1", p.dials)
		}
		transport.CloseIdleConnections()
	})
}
