package connections

import (
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"github.com/keystile/keystile/internal/ticks"
)

// A handler learns that its client has left within two ticks, and at once after these.
func TestHandlerLearnsThatItsClientLeft(t *testing.T) {
	for name, leaves := range map[string]time.Duration{"at once": 0, "within a tick": ticks.Every / 2,
		"after a minute": time.Minute} {
		t.Run(name, func(t *testing.T) {
			var took chan time.Duration
			handle := func(_ http.ResponseWriter, r *http.Request) {
				began := time.Now()
				<-r.Context().Done()
				took <- time.Since(began)
			}
			inBubble(t, Config{}, handle, func(s *site) {
				took = make(chan time.Duration, 1)
				c := s.ask(get)
				time.Sleep(leaves)
				c.Close()
				if got, latest := <-took, max(leaves, 2*ticks.Every); got < leaves || got > latest {
					t.Errorf("it was told after %v, want at the latest after %v", got, latest)
				}
			})
		})
	}
}

// A connection that was busy and is no more is watched by nothing that ticks.
func TestQuietServiceDoesNotTick(t *testing.T) {
	handle := func(_ http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPut {
			<-r.Context().Done()
		}
	}
	inBubble(t, Config{}, handle, func(s *site) {
		c := s.ask(get)
		c.wantAnswer(200)
		long := s.ask("PUT / HTTP/1.1\r\nHost: h\r\n\r\n")
		time.Sleep(3 * ticks.Every)
		if !s.limits.lingering.Idle() {
			t.Error("connections are looked at")
		}
		c.send(get) // and after that, all is as before
		c.wantAnswer(200)
		long.Close()
	})
}

// Bytes that follow a request over a connection that its handler took are not held back.
func TestHijackedConnectionIsReadAtOnce(t *testing.T) {
	var over chan struct{}
	handle := func(w http.ResponseWriter, _ *http.Request) {
		defer close(over)
		nc, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer nc.Close()
		began := time.Now()
		io.WriteString(nc, ".")
		if _, err := io.ReadFull(nc, make([]byte, 1)); err != nil || time.Since(began) != 0 {
			t.Errorf("a byte was read after %v, %v", time.Since(began), err)
		}
	}
	inBubble(t, Config{}, handle, func(s *site) {
		over = make(chan struct{})
		c := s.ask(upgrading(get))
		io.ReadFull(c.read, make([]byte, 1))
		c.send("x")
		<-over
	})
}

// A deadline that is over ends every Read, also one that is under way, until it is taken back.
func TestDeadlineThatIsOverEndsReads(t *testing.T) {
	for name, size := range map[string]int{"of one byte": 1, "of more": 100} {
		for when, waits := range map[string]time.Duration{"before it": -1, "that began": 0, "that lasts": time.Minute} {
			t.Run(name+" "+when, func(t *testing.T) { synctest.Test(t, func(t *testing.T) { endRead(t, size, waits) }) })
		}
	}
}

func endRead(t *testing.T, size int, waits time.Duration) {
	near, far := net.Pipe()
	c := New(Config{}).admit(far)
	defer c.Close()
	defer near.Close()
	over := make(chan error)
	read := func() {
		_, err := c.Read(make([]byte, size))
		over <- err
	}
	if waits >= 0 {
		go read()
		time.Sleep(waits)
		synctest.Wait()
	}
	began := time.Now()
	c.SetReadDeadline(time.Unix(1, 0))
	if waits < 0 {
		go read()
	}
	if err := <-over; !errors.Is(err, os.ErrDeadlineExceeded) || time.Since(began) != 0 {
		t.Errorf("it ended after %v with %v", time.Since(began), err)
	}
	c.SetReadDeadline(time.Unix(2, 0)) // over as well
	go read()
	if err := <-over; !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("the next ended with %v", err)
	}
	c.SetReadDeadline(began.Add(time.Hour))
	go read()
	go near.Write([]byte("x"))
	if err := <-over; err != nil {
		t.Errorf("after it was taken back: %v", err)
	}
	go read()
	if err := <-over; !errors.Is(err, os.ErrDeadlineExceeded) || time.Since(began) < time.Hour ||
		time.Since(began) > time.Hour+2*ticks.Every {
		t.Errorf("the deadline in an hour ended a Read after %v with %v", time.Since(began), err)
	}
}

func TestCloseEndsAReadOfOneByte(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		near, far := net.Pipe()
		defer near.Close()
		c := New(Config{}).admit(far)
		over := make(chan error)
		go func() {
			_, err := c.Read(make([]byte, 1))
			over <- err
		}()
		synctest.Wait()
		began := time.Now()
		c.Close()
		if err := <-over; err == nil || time.Since(began) != 0 {
			t.Errorf("it ended after %v with %v", time.Since(began), err)
		}
		time.Sleep(2 * ticks.Every)
	})
}

// A request that came together with one that took long is answered at once.
func TestLingerDoesNotHoldBackWhatCameTogether(t *testing.T) {
	var first bool
	handle := func(http.ResponseWriter, *http.Request) {
		if first {
			time.Sleep(10 * ticks.Every)
		}
		first = false
	}
	inBubble(t, Config{}, handle, func(s *site) {
		first = true
		c := s.ask(get + get + get)
		for range 3 {
			c.wantAnswer(200)
		}
		c.wantOver(10*ticks.Every, 10*ticks.Every)
	})
}
