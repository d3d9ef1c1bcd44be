package main

import (
	"net/http"
	"testing"
	"time"
)

func TestJudgeTellsHonestRefusalsFromBrokenPromises(t *testing.T) {
	again := http.Header{"Retry-After": {"1"}}
	made := []byte(`{"msg":"the change is made, but the audit trail cannot be written"}`)
	for name, c := range map[string]struct {
		is      answer
		excuses bool
		broken  int
	}{
		"told to come again while something is wrong":      {answer{status: 503, header: again}, true, 0},
		"told to come again while nothing is wrong":        {answer{status: 503, header: again}, false, 1},
		"told that it is made while something is wrong":    {answer{status: 503, body: made}, true, 0},
		"told that it is made while nothing is wrong":      {answer{status: 503, body: made}, false, 1},
		"refused and not told when to come again":          {answer{status: 503}, true, 1},
		"answered by another failure, whatever goes wrong": {answer{status: 500, header: again}, true, 1},
	} {
		m := newModel(&site{})
		if c.excuses {
			m.wrongs = append(m.wrongs, wrong{from: time.Now().Add(-time.Minute), excuses: true, node: everywhere})
		}
		c.is.sent, c.is.done = time.Now().Add(-time.Second), time.Now()
		if m.judge("a request", c.is); len(m.violations) != c.broken {
			t.Errorf("%s: %q, want %d violations", name, m.violations, c.broken)
		}
	}
}
