package mcpcall

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// slowList is a modern upstream that needs a second for its list.
type slowList struct{ asked atomic.Int32 }

func (s *slowList) RoundTrip(r *http.Request) (*http.Response, error) {
	s.asked.Add(1)
	select {
	case <-time.After(time.Second):
	case <-r.Context().Done():
		return nil, r.Context().Err()
	}
	body, _ := io.ReadAll(r.Body)
	id, _, _ := strings.Cut(strings.TrimPrefix(string(body), `{"jsonrpc":"2.0","id":`), ",")
	answer := `{"jsonrpc":"2.0","id":` + id + `,"result":{"resultType":"complete","tools":[{"name":"a"}]}}`
	return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {"application/json"}},
		Body: io.NopCloser(strings.NewReader(answer))}, nil
}

func TestDiscoveryServesAllWhoAskMeanwhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &slowList{}
		c := client(t, Config{Transport: s})
		to := Upstream{URL: "http://mcp.example.test/"}
		var all sync.WaitGroup
		for range 10 {
			all.Go(func() {
				found, err := c.Discover(t.Context(), to)
				if err != nil || len(found.Tools) != 1 || found.Tools[0].Name != "a" {
					t.Errorf("Discover() = %+v, %v", found, err)
				}
				found.Tools[0].Name, found.Names["a"] = "mine", "mine" // each has its own
			})
		}
		all.Wait()
		if n := s.asked.Load(); n != 1 || len(c.discoveries.running) != 0 {
			t.Errorf("asked %d times, %d under way, want once and none", n, len(c.discoveries.running))
		}
		other := to
		other.AuthType, other.Secret = "bearer", secret("another")
		for _, to := range []Upstream{to, {URL: to.URL, Member: "m"}, other} {
			go c.Discover(t.Context(), to)
		}
		synctest.Wait()
		if n := s.asked.Load(); n != 4 { // of the same upstream, names differ by the member
			t.Errorf("asked %d times, want a discovery for each member and each credential", n)
		}
		time.Sleep(5 * time.Second)
	})
}

func TestDiscoveryGoesOnWhenWhoeverBeganItLeaves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &slowList{}
		c := client(t, Config{Transport: s})
		to := Upstream{URL: "http://mcp.example.test/"}
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			if _, err := c.Discover(ctx, to); !errors.Is(err, context.Canceled) {
				t.Errorf("Discover() = %v, want that ctx ended", err)
			}
		}()
		synctest.Wait()
		go func() {
			if found, err := c.Discover(t.Context(), to); err != nil || len(found.Tools) != 1 {
				t.Errorf("Discover() = %+v, %v, want the tool", found, err)
			}
		}()
		short, stop := context.WithTimeout(t.Context(), time.Millisecond)
		defer stop()
		if _, err := c.Discover(short, to); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Discover() = %v, want that ctx ended", err)
		}
		cancel()
		time.Sleep(3 * time.Second)
		if n := s.asked.Load(); n != 2 {
			t.Errorf("asked %d times, want 2", n)
		}
	})
}

func TestPanicLeavesNobodyWaiting(t *testing.T) {
	calls := 0
	c := client(t, Config{Transport: roundTrip(func(*http.Request) (*http.Response, error) {
		if calls++; calls == 1 {
			panic("boom")
		}
		return nil, errors.New("not reached")
	})})
	to := Upstream{URL: "http://mcp.example.test/"}
	func() {
		defer func() { recover() }()
		c.Discover(t.Context(), to)
	}()
	if _, err := c.Discover(t.Context(), to); err == nil || !strings.Contains(err.Error(), "could not be reached") {
		t.Errorf("Discover() = %v, want an answer", err)
	}
}
