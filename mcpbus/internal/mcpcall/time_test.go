package mcpcall

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestCallerThatGoesAwayEndsTheCallAtTheUpstream(t *testing.T) {
	for _, era := range []Era{Modern, Legacy} {
		for name, early := range map[string]bool{"before the answer": true, "within the stream": false} {
			arrived, ended := make(chan string, 1), make(chan struct{})
			u := serve(t, &upstream{era: era, keeps: true, first: says("tools/call",
				func(w http.ResponseWriter, r *http.Request, m sent) {
					defer close(ended)
					if !early {
						w.Header().Set("Content-Type", "text/event-stream")
						io.WriteString(w, ": wait\n\n")
						w.(http.Flusher).Flush()
					}
					arrived <- m.id
					<-r.Context().Done()
				})})
			ctx, cancel := context.WithCancelCause(t.Context())
			gone, id := errors.New("the client went away"), ""
			go func() { id = <-arrived; cancel(gone) }()
			c := client(t, Config{})
			r, err := c.Call(ctx, u.at(), "x", nil)
			if !errors.Is(err, gone) || r.Content != nil {
				t.Errorf("%s, %s: Call() = %+v, %v, want %v", era, name, r, err, gone)
			}
			<-ended
			settle(c)
			last := u.last()
			if received := last.method == "notifications/cancelled" &&
				string(last.params["requestId"]) == id; received != (era == Legacy) {
				t.Errorf("%s, %s: the last message is %s, want the upstream told in the legacy era", era, name, last.body)
			}
		}
	}
}

func TestTimeIsBounded(t *testing.T) {
	drips := func(r *http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {"text/event-stream"}},
			Body: drip{r.Context()}, ContentLength: -1}, nil
	}
	silent := func(r *http.Request) (*http.Response, error) { <-r.Context().Done(); return nil, r.Context().Err() }
	for name, transport := range map[string]roundTrip{"drips": drips, "silent": silent} {
		synctest.Test(t, func(t *testing.T) {
			c := client(t, Config{Transport: transport, CallTimeout: 7 * time.Second})
			to, began := Upstream{URL: "http://mcp.example.test/"}, time.Now()
			r, err := c.Call(t.Context(), to, "x", nil)
			if took := time.Since(began); err != nil || !r.IsError || took != 7*time.Second ||
				!strings.Contains(texts(r), "within 7s") {
				t.Errorf("%s: Call() = %+v, %v after %v, want an error after 7 s", name, texts(r), err, took)
			}
			to.Timeout, began = 9*time.Minute, time.Now()
			r, err = c.Call(t.Context(), to, "x", nil)
			if took := time.Since(began); err != nil || !r.IsError || took != 9*time.Minute ||
				!strings.Contains(texts(r), "within 9m0s") {
				t.Errorf("%s: Call() with a time of its own = %+v, %v after %v, want an error after 9 min", name, texts(r), err,
					took)
			}
			began = time.Now()
			_, err = c.Discover(t.Context(), to)
			if took := time.Since(began); err == nil || took != 30*time.Second ||
				!strings.Contains(err.Error(), "within the time") {
				t.Errorf("%s: Discover() = %v after %v, want an error after 30 s", name, err, took)
			}
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			if _, err := c.Discover(ctx, to); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("%s: Discover() = %v, want the end of ctx", name, err)
			}
		})
	}
}

// drip is a body that gives a byte a second, until its request's context ends.
type drip struct{ ctx context.Context }

func (d drip) Read(p []byte) (int, error) {
	select {
	case <-d.ctx.Done():
		return 0, d.ctx.Err()
	case <-time.After(time.Second):
		return copy(p, ":"), nil
	}
}

// A stream that does not end after its answer must not keep the caller.
func TestStreamIsNotWaitedForAfterItsAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := client(t, Config{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
			answer := "data: " + `{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","tools":[]}}` + "\n\n"
			return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {"text/event-stream"}},
				Body: struct {
					io.Reader
					io.Closer
				}{io.MultiReader(strings.NewReader(answer), drip{r.Context()}), drip{}}}, nil
		})})
		began := time.Now()
		if _, err := c.Discover(t.Context(), Upstream{URL: "http://mcp.example.test/"}); err != nil ||
			time.Since(began) > 20*time.Millisecond {
			t.Errorf("Discover() = %v after %v, want it at once", err, time.Since(began))
		}
	})
}

// net/http keeps a connection only if its answer was read to the end.
func TestStreamIsReadToItsEnd(t *testing.T) {
	ended := false
	c := client(t, Config{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
		answer := strings.NewReader("data: " + `{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","tools":[]}}` + "\n\n")
		end := readFunc(func([]byte) (int, error) { ended = true; return 0, io.EOF })
		body := io.NopCloser(io.MultiReader(answer, end))
		return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: body}, nil
	})})
	if _, err := c.Discover(t.Context(), Upstream{URL: "http://mcp.example.test/"}); err != nil || !ended {
		t.Errorf("Discover() = %v, with the stream at its end: %t", err, ended)
	}
}

type readFunc func([]byte) (int, error)

func (f readFunc) Read(p []byte) (int, error) { return f(p) }

func TestCloseWaitsForNoUpstreamForEver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := client(t, Config{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
			if r.Method == http.MethodDelete {
				<-r.Context().Done()
				return nil, r.Context().Err()
			}
			return nil, errors.New("not reached")
		})})
		for i := range 40 { // more than run at once
			to, _ := Upstream{URL: "http://mcp.example.test/" + strings.Repeat("x", i)}.target()
			p := c.peer(to)
			p.link.Store(&link{version: legacy[0], session: "s"})
			c.peers.release(p)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		began := time.Now()
		if err := c.Close(ctx); !errors.Is(err, context.DeadlineExceeded) || time.Since(began) != 3*time.Second {
			t.Errorf("Close() = %v after %v, want the end of ctx after 3 s", err, time.Since(began))
		}
		synctest.Wait() // and the bubble ends only if no goroutine is left
	})
}
