package mcpbus_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/keystile/keystile/mcpbus"
)

// No sleeping: the bubble does not end before each of its goroutines has.
func TestAbandonedClientsLeaveNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newFixture(t, func(c *mcpbus.Config) { c.PerListener = 1000 })
		ctx, leave := context.WithCancel(t.Context())
		var all sync.WaitGroup
		for i := range 2000 {
			all.Go(func() {
				send(h.bus, request(ctx, legacyBody("initialize", "{}")))
				if i%4 == 0 {
					r := request(ctx, modernBody("subscriptions/listen", listenTools), modernHeaders("subscriptions/listen", "")...)
					h.bus.ServeHTTP(httptest.NewRecorder(), r)
				}
			})
		}
		synctest.Wait()
		h.register(capability("new", "https://x.example.com"), rest("get", "x"))
		h.reload()
		leave()
		all.Wait()
		if s := h.listen(t.Context(), listenTools); s.status != 200 {
			t.Errorf("a stream after 500 were abandoned = %d", s.status)
		}
	})
}

func TestCloseSaysWhenItDidNotWait(t *testing.T) {
	bubble(t, func(t *testing.T, h *fixture) {
		hang := make(chan struct{})
		s := &stuckStream{stream{header: http.Header{}}, hang}
		go h.bus.ServeHTTP(s, request(t.Context(), modernBody("subscriptions/listen", listenTools),
			modernHeaders("subscriptions/listen", "")...))
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := h.bus.Close(ctx); err == nil || !strings.Contains(err.Error(), "not all streams") {
			t.Errorf("Close() beside a stream that hangs = %v", err)
		}
		close(hang)
	})
}

// stuckStream is a client that reads nothing.
type stuckStream struct {
	stream
	until chan struct{}
}

func (s *stuckStream) Write(p []byte) (int, error) { <-s.until; return len(p), nil }

// Over a real connection: events arrive one by one, and a connection that served a stream
// serves requests afterwards.
func TestStreamOverARealConnection(t *testing.T) {
	h := newFixture(t)
	server := httptest.NewServer(h.bus)
	defer server.Close()
	open := func(body string, headers ...string) *http.Response {
		t.Helper()
		r := must(http.NewRequestWithContext(t.Context(), "POST", server.URL+"/api/mcp", strings.NewReader(body)))(t)
		r.Header.Set("Authorization", "Bearer app")
		for i := 0; i < len(headers); i += 2 {
			r.Header.Set(headers[i], headers[i+1])
		}
		return must(server.Client().Do(r))(t)
	}
	resp := open(modernBody("subscriptions/listen", listenTools), modernHeaders("subscriptions/listen", "")...)
	read := func(want string) {
		t.Helper()
		got := make([]byte, len(want))
		for n := 0; n < len(got); {
			m, err := resp.Body.Read(got[n:])
			if n += m; err != nil && n < len(got) {
				t.Fatalf("%q, then %v", got[:n], err)
			}
		}
		if string(got) != want {
			t.Fatalf("%q, want %q", got, want)
		}
	}
	read(acknowledged)
	h.register(capability("new", "https://x.example.com"), rest("get", "x"))
	h.reload()
	read(changed)
	if err := h.bus.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	read(ended)
	if n, err := resp.Body.Read(make([]byte, 1)); n != 0 || fmt.Sprint(err) != "EOF" {
		t.Errorf("after its end: %d bytes, %v", n, err)
	}
	resp.Body.Close()
	next := open(legacyBody("ping", ""))
	defer next.Body.Close()
	if next.StatusCode != 200 {
		t.Errorf("the next request = %d", next.StatusCode)
	}
}
