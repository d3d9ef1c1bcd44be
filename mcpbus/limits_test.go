package mcpbus_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/keystile/keystile/mcpbus"
	"github.com/keystile/keystile/storage"
)

func TestCallsAtTheSameTimeAreBounded(t *testing.T) {
	for _, c := range []struct {
		name  string
		calls int
		as    func(i int) string // who makes the i-th call
		told  string
	}{
		{"one caller", 16, func(int) string { return "Bearer app" }, "at a time (16)"},
		{"one upstream", 32, func(i int) string { return fmt.Sprint("Bearer caller", i/8) }, "upstream"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := newFixture(t)
				for i := range 4 {
					h.tokens.give(fmt.Sprint("caller", i), storage.Caller{AppID: fmt.Sprint("other", i), Scope: "app",
						Audience: issuer}, time.Hour)
				}
				hold := make(chan struct{})
				h.calls.do = func(_ context.Context, tool string, _ json.RawMessage) (mcpbus.Result, error) {
					if tool == "pets.getPet" {
						<-hold
					}
					return answered(200, "{}"), nil
				}
				for i := range c.calls {
					go h.legacy("tools/call", getPet, "Authorization", c.as(i))
				}
				synctest.Wait()
				a := h.legacy("tools/call", getPet)
				if a.status != 200 || a.at("result.isError") != true || !strings.Contains(a.toolText(), c.told) {
					t.Errorf("one more = %d %s, want a result that says to wait", a.status, a.text)
				}
				if charges, events := h.meter.bill(); len(charges) != 0 || len(events) != 1 || events[0].Status != 429 {
					t.Errorf("charged %v, noted %+v; want nothing and 429", charges, events)
				}
				others := make(chan answer)
				go func() { others <- h.legacy("tools/call", `{"name":"maths__add"}`, "Authorization", "Bearer user") }()
				if a := <-others; a.at("result.isError") != nil {
					t.Errorf("somebody else's call of something else = %s", a.text)
				}
				close(hold)
				synctest.Wait()
				if a := h.legacy("tools/call", getPet); a.at("result.isError") != nil {
					t.Errorf("once they are over: %s", a.text)
				}
			})
		})
	}
}

func TestClientThatGoesAwayCancelsItsCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newFixture(t)
		ended := make(chan error, 2)
		h.calls.do = func(ctx context.Context, _ string, _ json.RawMessage) (mcpbus.Result, error) {
			<-ctx.Done()
			ended <- ctx.Err()
			return mcpbus.Result{}, context.Cause(ctx)
		}
		for _, r := range []struct {
			body    string
			headers []string
		}{{legacyBody("tools/call", getPet), nil}, {modernBody("tools/call", `"name":"pets__getPet"`), modernHeaders("tools/call", `"name":"pets__getPet"`)}} {
			ctx, cancel := context.WithCancel(t.Context())
			go send(h.bus, request(ctx, r.body, r.headers...))
			synctest.Wait()
			if len(ended) != 0 {
				t.Fatal("the call ended before its client went away")
			}
			cancel()
			if err := <-ended; !errors.Is(err, context.Canceled) {
				t.Errorf("the upstream sees %v", err)
			}
			synctest.Wait()
			charges, events := h.meter.bill()
			if !slices.Equal(charges, []string{"app1 mcp failed true"}) || len(events) != 1 || events[0].Status != 499 {
				t.Errorf("charged %v, noted %+v; want the call to be paid and 499", charges, events)
			}
		}
	})
}
