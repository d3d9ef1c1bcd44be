package connections

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

const large = 1 << 20

// much is a handler with a large answer.
func much(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Length", fmt.Sprint(large))
	w.Write(make([]byte, large))
}

// slowly reads a few bytes at each tick until the connection is closed.
func (c *client) slowly(n int, every time.Duration) (total int) {
	for {
		m, err := c.Conn.Read(make([]byte, n))
		total += m
		if err != nil {
			return total
		}
		time.Sleep(every)
	}
}

func TestAnswerThatIsNotReadDoesNotHoldAConnection(t *testing.T) {
	for name, request := range map[string]string{
		"of a request":             get,
		"of a request with a body": post(4) + "body",
		"of many at once":          strings.Repeat(get, 40),
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, Config{}, much, func(s *site) {
				c := s.dial("192.0.2.1")
				go io.WriteString(c.Conn, request)
				time.Sleep(32 * time.Second)
				if s.limits.Stats().Open != 0 {
					t.Error("it is open")
				}
				if cut := s.limits.Stats().CutAnswer; cut != 1 {
					t.Errorf("counted %d times, want once", cut)
				}
			})
		})
	}
}

func TestAnswerReadInDripsDoesNotHoldAConnection(t *testing.T) {
	inBubble(t, Config{}, much, func(s *site) {
		c := s.ask(get)
		if n := c.slowly(100, time.Second); n > 10<<10 {
			t.Errorf("%d bytes were read", n)
		}
		c.wantOver(30*time.Second, 40*time.Second)
	})
}

func TestAnswerReadAboveTheRateArrives(t *testing.T) {
	inBubble(t, Config{}, much, func(s *site) {
		c := s.ask(get)
		if n := c.slowly(1100, time.Second); n < large {
			t.Errorf("%d bytes were read", n)
		}
	})
}

func TestSmallAnswersOneAfterTheOtherAreMeasuredTogether(t *testing.T) {
	inBubble(t, Config{}, func(w http.ResponseWriter, _ *http.Request) {
		for range 1000 {
			w.Write(make([]byte, 4<<10))
		}
	}, func(s *site) {
		c := s.ask(get)
		c.slowly(4<<10, 8*time.Second) // each of them is fast enough for a deadline of its own
		c.wantOver(30*time.Second, 80*time.Second)
	})
}

func TestStreamLivesAsLongAsItSaysSomething(t *testing.T) {
	handle := func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for _, pause := range []time.Duration{time.Second, 20 * time.Minute, 29 * time.Minute, 59 * time.Minute,
			10 * time.Hour} {
			fmt.Fprintln(w, "data: x")
			http.NewResponseController(w).Flush()
			select {
			case <-time.After(pause):
			case <-r.Context().Done():
				return
			}
		}
	}
	for name, request := range map[string]string{"asked for with GET": get, "asked for with POST": post(4) + "body"} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, Config{}, handle, func(s *site) {
				c := s.ask(request)
				// It has said its last after 108 minutes, and is then silent for an hour, or half as long again.
				c.wantClosed(168*time.Minute, 200*time.Minute)
				if cut := s.limits.Stats().CutSilent; cut != 1 {
					t.Errorf("counted %d times, want once", cut)
				}
			})
		})
	}
}

// The handler says how long its answer may take: a client that waits has nothing to send.
func TestAnswerThatIsWaitedForIsNoSilence(t *testing.T) {
	handle := func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		select {
		case <-time.After(10 * time.Minute):
		case <-r.Context().Done():
			return
		}
		w.WriteHeader(http.StatusOK)
		http.NewResponseController(w).Flush()
		<-r.Context().Done() // and what has begun is a stream
	}
	inBubble(t, Config{StreamIdle: time.Minute}, handle, func(s *site) {
		c := s.ask(post(4) + "body")
		c.SetReadDeadline(time.Now().Add(time.Hour))
		if line, err := c.read.ReadString('\n'); !strings.HasPrefix(line, "HTTP/1.1 200") {
			t.Errorf("after 10 minutes it has %q, %v", line, err)
			return
		}
		c.wantOver(10*time.Minute, 10*time.Minute)
		c.wantClosed(11*time.Minute, 11*time.Minute+31*time.Second)
		if cut := s.limits.Stats().CutSilent; cut != 1 {
			t.Errorf("%d connections are counted as silent, want the one that was it after its answer had begun", cut)
		}
	})
}

func TestSwitchedProtocolLivesAsLongAsItSaysSomething(t *testing.T) {
	handle := func(w http.ResponseWriter, _ *http.Request) {
		nc, both, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		go func() {
			defer nc.Close()
			for line := ""; err == nil; line, err = both.ReadString('\n') {
				io.WriteString(nc, "echo "+line)
			}
		}()
	}
	for name, request := range map[string]string{"without a body": get, "with a body": post(4) + "body"} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, Config{}, handle, func(s *site) {
				c := s.ask(upgrading(request))
				io.ReadFull(c.read, make([]byte, len("echo ")))
				for range 5 {
					time.Sleep(50 * time.Minute)
					go c.send("hello\n")
					if line, err := bufio.NewReader(c.Conn).ReadString('\n'); !strings.HasSuffix(line, "hello\n") {
						t.Fatalf("read %q, %v", line, err)
					}
				}
				c.began = time.Now()
				c.wantClosed(time.Hour, 91*time.Minute)
			})
		})
	}
}

func TestUnreadWebSocketIsClosed(t *testing.T) {
	handle := func(w http.ResponseWriter, _ *http.Request) {
		nc, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer nc.Close()
		nc.Write(make([]byte, large))
	}
	inBubble(t, Config{}, handle, func(s *site) {
		s.ask(upgrading(get))
		time.Sleep(32 * time.Second)
		if s.limits.Stats().Open != 0 {
			t.Error("it is open")
		}
	})
}

func TestConnectionThatIsNotUsedIsClosed(t *testing.T) {
	inBubble(t, Config{}, readAll, func(s *site) {
		s.dial("192.0.2.1").wantClosed(time.Second, 6*time.Second)
		c := s.ask(post(4))
		c.send("body")
		c.wantAnswer(200)
		c.wantClosed(2*time.Minute, 2*time.Minute+time.Second)
	})
}
