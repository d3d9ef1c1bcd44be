package mcpcall

import (
	"strings"
	"sync"
	"testing"
)

const handshake = "initialize, notifications/initialized"

func TestSessionIsSharedAndEndedAtTheEnd(t *testing.T) {
	u := serve(t, &upstream{era: Legacy, keeps: true})
	c := client(t, Config{})
	if _, err := c.Discover(t.Context(), u.at()); err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			if r, err := c.Call(t.Context(), u.at(), "x", nil); err != nil || r.IsError {
				t.Errorf("Call() = %+v, %v", r, err)
			}
		})
	}
	all.Wait()
	if n := strings.Count(u.walk(), handshake); n != 1 || u.open() != 1 {
		t.Errorf("%d handshakes, %d sessions open, want one of each", n, u.open())
	}
	for range 2 {
		if err := c.Close(t.Context()); err != nil {
			t.Errorf("Close() = %v, want no error", err)
		}
	}
	if u.open() != 0 || u.last().http != "DELETE" {
		t.Errorf("%d sessions open after Close, the last request was %s", u.open(), u.last().http)
	}
}

func TestSessionOfManyFirstCallsShakesHandsOnce(t *testing.T) {
	u := serve(t, &upstream{era: Legacy, keeps: true})
	c := client(t, Config{})
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			if r, err := c.Call(t.Context(), u.at(), "x", nil); err != nil || r.IsError {
				t.Errorf("Call() = %+v, %v", r, err)
			}
		})
	}
	all.Wait()
	if got := u.walk(); strings.Count(got, "tools/list") != 1 || strings.Count(got, handshake) != 1 {
		t.Errorf("asked %s, want one probe and one handshake", got)
	}
}

func TestLostSessionIsRenewedOnce(t *testing.T) {
	u := serve(t, &upstream{era: Legacy, keeps: true})
	c := client(t, Config{})
	c.Call(t.Context(), u.at(), "x", nil)
	u.mu.Lock()
	clear(u.sessions)
	u.mu.Unlock()
	before := u.walk()
	if r, err := c.Call(t.Context(), u.at(), "x", nil); err != nil || r.IsError {
		t.Errorf("Call() = %+v, %v; says %s", r, err, texts(r))
	}
	if got := strings.TrimPrefix(u.walk(), before); got != ", tools/call, "+handshake+", tools/call" {
		t.Errorf("asked%s", got)
	}
	ids := map[string]bool{}
	for _, m := range u.seen {
		if m.id != "" && ids[m.id] {
			t.Errorf("the id %s is used twice", m.id)
		}
		ids[m.id] = true
	}
	u.mu.Lock()
	u.first = says("tools/call", plain(404, "text/plain", "session not found"))
	u.mu.Unlock()
	before = u.walk()
	if r, err := c.Call(t.Context(), u.at(), "x", nil); err != nil || !r.IsError ||
		!strings.Contains(texts(r), "HTTP 404") {
		t.Errorf("Call() = %+v, %v; says %s, want 404", r, err, texts(r))
	}
	c.Close(t.Context())
	if got := strings.TrimPrefix(u.walk(), before); got != ", tools/call, "+handshake+", tools/call, DELETE" ||
		u.open() != 1 {
		t.Errorf("asked%s, with %d open; want two calls, and the end of the second session", got, u.open())
	}
}

func TestSessionThatManyLoseIsRenewedOnce(t *testing.T) {
	u := serve(t, &upstream{era: Legacy, keeps: true})
	c := client(t, Config{})
	c.Call(t.Context(), u.at(), "x", nil)
	u.mu.Lock()
	clear(u.sessions)
	u.mu.Unlock()
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			if r, err := c.Call(t.Context(), u.at(), "x", nil); err != nil || r.IsError {
				t.Errorf("Call() = %+v, %v", r, err)
			}
		})
	}
	all.Wait()
	if n := strings.Count(u.walk(), "initialize,"); n != 2 {
		t.Errorf("%d handshakes, want the first and one more", n)
	}
}

func TestSessionlessNotFoundIsAnAnswer(t *testing.T) {
	u := serve(t, &upstream{era: Legacy, first: says("tools/call", plain(404, "", ""))})
	r, err := client(t, Config{}).Call(t.Context(), u.at(), "x", nil)
	if err != nil || !r.IsError || strings.Count(u.walk(), "tools/call") != 1 {
		t.Errorf("Call() = %+v, %v; asked %s", r, err, u.walk())
	}
}

func TestSessionNobodyKeepsIsEnded(t *testing.T) {
	u := serve(t, &upstream{era: Legacy, keeps: true, version: "2031-01-01"})
	c := client(t, Config{})
	if _, err := c.Discover(t.Context(), u.at()); err == nil {
		t.Fatal("Discover() = no error, want one of the version")
	}
	c.Close(t.Context())
	if u.open() != 0 {
		t.Errorf("%d sessions open, want none", u.open())
	}
}

func (drip) Close() error { return nil }

func TestSessionThatEndsWithinAListCostsThatListOnly(t *testing.T) {
	u := serve(t, &upstream{era: Legacy, keeps: true})
	lost := false
	u.list = func(cursor string) string {
		if cursor == "first" && !lost {
			clear(u.sessions)
			lost = true
			return `{"tools":[{"name":"a"}],"nextCursor":"2"}`
		}
		return `{"tools":[{"name":"b"}]}`
	}
	c := client(t, Config{})
	if _, err := c.Discover(t.Context(), u.at()); err == nil || !strings.Contains(err.Error(), "session not found") {
		t.Errorf("Discover() = %v, want that the session is lost", err)
	}
	settle(c)
	before := u.walk()
	found, err := c.Discover(t.Context(), u.at())
	if err != nil || len(found.Tools) != 1 || found.Names["b"] == "" || u.open() != 1 {
		t.Errorf("the next Discover() = %+v, %v, with %d sessions", found, err, u.open())
	}
	if got := strings.TrimPrefix(u.walk(), before); got != ", tools/list, "+handshake+", tools/list" {
		t.Errorf("the next Discover() asked%s, want nothing of the lost session", got)
	}
}

func TestUpstreamThatIsBusyKeepsItsSession(t *testing.T) {
	u := serve(t, &upstream{era: Legacy, keeps: true, first: says("tools/call", plain(503, "", ""))})
	c := client(t, Config{})
	for range 2 {
		c.Call(t.Context(), u.at(), "x", nil)
	}
	u.mu.Lock()
	u.first = says("tools/list", plain(503, "", ""))
	u.mu.Unlock()
	if _, err := c.Discover(t.Context(), u.at()); err == nil || !strings.Contains(err.Error(), "busy") {
		t.Errorf("Discover() = %v, want that the upstream is busy", err)
	}
	settle(c)
	if n := strings.Count(u.walk(), handshake); n != 1 || u.open() != 1 {
		t.Errorf("%d handshakes, %d sessions, want one of each", n, u.open())
	}
}
