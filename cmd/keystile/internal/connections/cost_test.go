package connections

import (
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// counting counts how often deadlines are set.
type counting struct {
	net.Conn
	reads, writes atomic.Int32
}

func (c *counting) SetReadDeadline(t time.Time) error {
	c.reads.Add(1)
	return c.Conn.SetReadDeadline(t)
}

func (c *counting) SetWriteDeadline(t time.Time) error {
	c.writes.Add(1)
	return c.Conn.SetWriteDeadline(t)
}

// count sends a request a hundred times over one connection and says how often each of the
// deadlines was set.
func count(t *testing.T, request string) (reads, writes int32) {
	t.Helper()
	inBubble(t, Config{}, readAll, func(s *site) {
		near, far := net.Pipe()
		counted := &counting{Conn: far}
		s.dialed <- counted
		c := newClient(t, near)
		for range 100 {
			c.send(request)
			c.wantAnswer(200)
		}
		near.Close()
		reads, writes = counted.reads.Load(), counted.writes.Load()
	})
	return reads, writes
}

func TestDeadlinesAreSetRarely(t *testing.T) {
	plain, writes := count(t, get)
	if writes > 3 {
		t.Errorf("%d deadlines for writing 100 answers", writes)
	}
	body, writes := count(t, post(4)+"body")
	if writes > 3 {
		t.Errorf("%d deadlines for writing 100 answers", writes)
	}
	// At most one when net/http waits for the client to leave, and one when that may last.
	if more := body - plain; more > 200 {
		t.Errorf("100 bodies that came at once made %d more deadlines", more)
	}
}

func TestARequestWithoutABodyCostsNothing(t *testing.T) {
	h := handler{http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})}
	r, w := httptest.NewRequestWithContext(t.Context(), "GET", "/", nil), httptest.NewRecorder()
	if n := testing.AllocsPerRun(100, func() { h.ServeHTTP(w, r) }); n != 0 {
		t.Errorf("it allocates %v times", n)
	}
}

func TestALongAnswerSetsFewDeadlines(t *testing.T) {
	inBubble(t, Config{}, func(w http.ResponseWriter, _ *http.Request) {
		for range 1000 {
			w.Write(make([]byte, 4<<10))
		}
	}, func(s *site) {
		near, far := net.Pipe()
		counted := &counting{Conn: far}
		s.dialed <- counted
		c := newClient(t, near)
		c.send(get)
		if _, body := c.answer(); len(body) != 4000<<10 || strings.Trim(body, "\x00") != "" {
			t.Errorf("answered %d bytes", len(body))
		}
		near.Close()
		if n := counted.writes.Load(); n > 3 {
			t.Errorf("%d deadlines for one answer", n)
		}
	})
}
