package main

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/keystile/keystile/internal/test/campaigns/balancer"
)

// A request that a node has not answered is that node's: the end of another one explains nothing.
func TestKillExplainsWhatTheKilledNodeDidNotAnswer(t *testing.T) {
	ready := func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/healthz/ready" {
			panic(http.ErrAbortHandler)
		}
	}
	server := httptest.NewServer(http.HandlerFunc(ready))
	defer server.Close()
	b := balancer.New("127.0.0.1:1", strings.TrimPrefix(server.URL, "http://"))
	defer b.Close()
	if err := until(t.Context(), time.Minute, func() error {
		if !b.Ready(1) {
			return context.DeadlineExceeded
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	p := &person{world: &world{meter: newMeter(), web: &http.Client{Transport: b}}}
	a := p.post("/oauth/token", url.Values{})
	if a.class() != lost || a.node != "1" {
		t.Fatalf("it is %s, of node %q: %v", a.class(), a.node, a)
	}
	for node, says := range map[int][]string{0: {"no fault explains it"}, 1: nil} {
		s := soaked(lived(0, 0, 600, "", 0))
		s.meter.windows = []window{{what: "kill", from: a.sent.Add(-time.Second), explains: lostBy(node)}}
		s.meter.note("code + PKCE", a, false)
		judged(t, "a kill of node 0 or 1", s, says...)
	}
}
