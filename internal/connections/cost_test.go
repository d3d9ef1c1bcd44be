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

// net/http sets a deadline for reading six times in each request, two of them to end its wait for
// the client to leave. None of them moves a timer.
func TestDeadlinesAreSetRarely(t *testing.T) {
	for name, request := range map[string]string{"without a body": get,
		"with a body that came at once": post(4) + "body"} {
		reads, writes := count(t, request)
		if writes > 3 {
			t.Errorf("%s: %d deadlines for writing 100 answers", name, writes)
		}
		if reads > 5 {
			t.Errorf("%s: %d deadlines for reading 100 requests", name, reads)
		}
	}
}

func TestRequestWithoutABodyCostsNothing(t *testing.T) {
	h := handler{http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})}
	r, w := httptest.NewRequestWithContext(t.Context(), "GET", "/", nil), httptest.NewRecorder()
	if n := testing.AllocsPerRun(100, func() { h.ServeHTTP(w, r) }); n != 0 {
		t.Errorf("it allocates %v times", n)
	}
}

func TestLongAnswerSetsFewDeadlines(t *testing.T) {
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
