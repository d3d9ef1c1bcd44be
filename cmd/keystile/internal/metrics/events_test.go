package metrics

import (
	"strings"
	"testing"
	"time"

	"github.com/keystile/keystile/storage/event"
)

func TestEventsAreCountedByKindAndClassOfStatus(t *testing.T) {
	m := New("v1.2.3", func() float64 { return 0 })
	note := m.Events()
	for _, e := range []event.Event{
		{Kind: event.SignIn, Status: 303}, {Kind: event.SignIn, Status: 401}, {Kind: event.SignIn, Status: 401},
		{Kind: event.Admin, Detail: "app create"},
		{Kind: event.ToolCall, Status: 200, Latency: 30 * time.Millisecond},
		{Kind: event.ToolCall, Status: 504, Latency: 4 * time.Second},
		{Kind: "whatever somebody sent", Status: 777},
	} {
		note(e)
	}
	text := scrape(t, m)
	for _, want := range []string{
		`keystile_events_total{kind="signin",status="3xx"} 1`, `keystile_events_total{kind="signin",status="4xx"} 2`,
		`keystile_events_total{kind="admin",status="2xx"} 1`, `keystile_events_total{kind="other",status="other"} 1`,
		`keystile_events_total{kind="tool",status="5xx"} 1`, `keystile_events_total{kind="revocation",status="2xx"} 0`,
		`keystile_tool_call_duration_seconds_bucket{status="2xx",le="0.05"} 1`, `keystile_tool_call_duration_seconds_bucket{status="5xx",le="2.5"} 0`,
		`keystile_tool_call_duration_seconds_sum{status="5xx"} 4`, `keystile_tool_call_duration_seconds_count{status="4xx"} 0`,
	} {
		if !strings.Contains(text, want+"\n") {
			t.Errorf("not counted: %s", want)
		}
	}
	if strings.Contains(text, "somebody") {
		t.Error("a kind that nobody knows is a label")
	}
}

func TestCountingAnEventAllocatesNothing(t *testing.T) {
	note := New("a", func() float64 { return 0 }).Events()
	e := event.Event{Kind: event.ToolCall, Status: 200, Latency: time.Millisecond}
	if n := testing.AllocsPerRun(100, func() { note(e) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
