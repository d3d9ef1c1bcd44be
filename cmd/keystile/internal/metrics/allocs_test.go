package metrics

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/keystile/keystile/cmd/keystile/internal/requests"
)

func TestCountingARequestAllocatesNothing(t *testing.T) {
	m := New("a", func() float64 { return 0 })
	s := requests.Seen{Route: "/svc/", Method: "GET", Status: 200, Took: time.Millisecond}
	if n := testing.AllocsPerRun(100, func() { m.Begin(); m.End(s) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// Run with -race: labels are found while others are counted.
func TestMetricsLoseNoRequestWhileLabelsAreFound(t *testing.T) {
	m := New("a", func() float64 { return 0 })
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for i := range 200 {
				m.Begin()
				m.End(requests.Seen{Route: fmt.Sprint("/", i%50), Method: "GET", Status: 200})
			}
		})
	}
	all.Wait()
	text := scrape(t, m)
	for i := range 50 {
		if want := fmt.Sprintf(`keystile_http_requests_total{method="GET",route="/%d",status="2xx"} 16`, i); !strings.Contains(text, want) {
			t.Errorf("not counted: %s", want)
		}
	}
}

func BenchmarkEnd(b *testing.B) {
	m := New("a", func() float64 { return 0 })
	s := requests.Seen{Route: "/svc/", Method: "GET", Status: 200, Took: time.Millisecond}
	b.ReportAllocs()
	for b.Loop() {
		m.Begin()
		m.End(s)
	}
}
