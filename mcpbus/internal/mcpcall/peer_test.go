package mcpcall

import (
	"net/http"
	"testing"
)

func TestUpstreamsUsedLongAgoAreForgotten(t *testing.T) {
	a, b, d := serve(t, &upstream{era: Legacy, keeps: true}), serve(t, &upstream{era: Legacy, keeps: true}),
		serve(t, &upstream{era: Legacy, keeps: true})
	c := client(t, Config{MaxPeers: 2})
	for _, u := range []*upstream{a, b, a, d} {
		if r, err := c.Call(t.Context(), u.at(), "x", nil); err != nil || r.IsError {
			t.Fatal(r, err)
		}
	}
	settle(c)
	if a.open() != 1 || b.open() != 0 || d.open() != 1 || len(c.peers.all()) != 2 || len(c.peers.known) != 2 {
		t.Errorf("open are %d, %d, %d, and %d are known; want the one used longest ago forgotten", a.open(), b.open(),
			d.open(), len(c.peers.all()))
	}
}

func TestUpstreamInUseIsNotForgotten(t *testing.T) {
	entered, leave := make(chan struct{}), make(chan struct{})
	a := serve(t, &upstream{era: Legacy, keeps: true, call: func(sent) string { close(entered); <-leave; return `{"content":[]}` }})
	b := serve(t, &upstream{era: Legacy, keeps: true})
	a.first = says("tools/call", func(w http.ResponseWriter, _ *http.Request, m sent) { a.serve(w, m) })
	c := client(t, Config{MaxPeers: 1})
	done := make(chan struct{})
	go func() {
		defer close(done)
		if r, err := c.Call(t.Context(), a.at(), "x", nil); err != nil || r.IsError {
			t.Errorf("Call() = %+v, %v", r, err)
		}
	}()
	<-entered
	c.Call(t.Context(), b.at(), "x", nil)
	if n := len(c.peers.all()); n != 2 || a.open() != 1 {
		t.Errorf("%d are known, %d sessions open, want the one in use kept", n, a.open())
	}
	close(leave)
	<-done
	c.Call(t.Context(), b.at(), "x", nil)
	if n := len(c.peers.all()); n != 1 {
		t.Errorf("%d are known, want 1", n)
	}
}

// Two capabilities at one URL may see different tools, and must not share a session.
func TestCredentialHasItsOwnSession(t *testing.T) {
	u := serve(t, &upstream{era: Legacy, keeps: true})
	c := client(t, Config{})
	for _, s := range []string{"", "secret-one", "secret-two"} {
		to := u.at()
		if s != "" {
			to.AuthType, to.Secret = "bearer", secret(s)
		}
		c.Call(t.Context(), to, "x", nil)
		c.Call(t.Context(), to, "x", nil)
	}
	if u.open() != 3 {
		t.Errorf("%d sessions open, want 3", u.open())
	}
}
