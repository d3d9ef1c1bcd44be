package mcpbus_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/keystile/keystile/mcpbus"
	"github.com/keystile/keystile/mcpbus/internal/mcpcall"
)

const bothTypes = "application/json, text/event-stream"

// begin sends a request whose answer is read as it comes. It must run in a bubble.
func (h *fixture) begin(ctx context.Context, body string, headers ...string) *stream {
	s := &stream{header: http.Header{}}
	r := request(ctx, body, headers...)
	go func() {
		h.bus.ServeHTTP(s, r)
		s.mu.Lock()
		defer s.mu.Unlock()
		s.over = true
	}()
	synctest.Wait()
	return s
}

// takes is an upstream that takes its time.
func takes(d time.Duration) do {
	return func(ctx context.Context, _ string, _ json.RawMessage) (mcpbus.Result, error) {
		select {
		case <-time.After(d):
			return answered(200, `{"late":true}`), nil
		case <-ctx.Done():
			return mcpbus.Result{}, context.Cause(ctx)
		}
	}
}

// callWithProgress is a call in both eras that asks for progress with a token.
func callWithProgress(token string) map[string][]string {
	return map[string][]string{
		"legacy": {legacyBody("tools/call", `{"name":"pets__getPet","arguments":{"id":1},"_meta":{"progressToken":`+token+`}}`), "Accept", bothTypes},
		"modern": append([]string{strings.Replace(modernBody("tools/call", `"name":"pets__getPet"`), `"_meta":{`, `"_meta":{"progressToken":`+token+`,`, 1), "Accept", bothTypes},
			modernHeaders("tools/call", `"name":"pets__getPet"`)...),
	}
}

func progressed(token, rest string) string {
	return "event: message\ndata: " + `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":` + token + `,"progress":` + rest + "}}\n\n"
}

// delayedResult is the last event of a call that takes its time.
func delayedResult(era string) string {
	more := ""
	if era == "modern" {
		more = `,"resultType":"complete","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"Keystile","version":"0.0.0"}}`
	}
	return "event: message\ndata: " + `{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"{\"late\":true}"}],"structuredContent":{"late":true}` + more + "}}\n\n"
}

func TestLongCallReportsItsProgressIfAsked(t *testing.T) {
	for _, token := range []string{`7`, `"a\u0062 c"`, `-1.50`} {
		for era, call := range callWithProgress(token) {
			bubble(t, func(t *testing.T, h *fixture) {
				h.calls.do = takes(90*time.Second + time.Millisecond)
				began := time.Now()
				s := h.begin(t.Context(), call[0], call[1:]...)
				s.want(t, era+": at first", "", false)
				for received := 5; received <= 90; received += 5 {
					time.Sleep(5 * time.Second)
					s.want(t, fmt.Sprintf("%s: after %d s", era, received), progressed(token, fmt.Sprint(received)), false)
				}
				if s.status != 200 || s.header.Get("Content-Type") != "text/event-stream" ||
					s.header.Get("X-Accel-Buffering") != "no" || s.header.Get("Cache-Control") != "no-store" {
					t.Errorf("%s: it is %d %v", era, s.status, s.header)
				}
				time.Sleep(time.Millisecond)
				s.want(t, era+": at last", delayedResult(era), true)
				if !s.deadline.IsZero() {
					t.Errorf("%s: a deadline is left on the connection", era)
				}
				if charges, events := h.meter.bill(); len(charges) != 1 || len(events) != 1 || events[0].Status != 200 ||
					events[0].Latency != time.Since(began) {
					t.Errorf("%s: charged %v, noted %+v", era, charges, events)
				}
			})
		}
	}
}

// A quick answer is what it was, and so is that to a client that did not ask, however long it takes.
func TestProgressStreamsOnlyLongCallsWithAToken(t *testing.T) {
	quick, slow := 4999*time.Millisecond, 90*time.Second
	for name, c := range map[string]struct {
		takes        time.Duration
		meta, accept string
		streams      bool
	}{
		"asked, and quick":           {quick, `{"progressToken":1}`, bothTypes, false},
		"asked, and slow":            {slow, `{"progressToken":1}`, bothTypes, true},
		"asked in other letters":     {slow, `{"progressToken":1}`, "application/json;q=0.9,Text/Event-Stream;q=0.5", true},
		"no token":                   {slow, `{}`, bothTypes, false},
		"no stream":                  {slow, `{"progressToken":1}`, "application/json", false},
		"any type":                   {slow, `{"progressToken":1}`, "*/*", false},
		"no Accept":                  {slow, `{"progressToken":1}`, "", false},
		"a token that is null":       {slow, `{"progressToken":null}`, bothTypes, false},
		"a token that is an object":  {slow, `{"progressToken":{}}`, bothTypes, false},
		"a token that is true":       {slow, `{"progressToken":true}`, bothTypes, false},
		"a token of 257 bytes":       {slow, `{"progressToken":"` + strings.Repeat("x", 255) + `"}`, bothTypes, false},
		"a _meta that is no object":  {slow, `7`, bothTypes, false},
		"the token in another place": {slow, `{"x":{"progressToken":1}}`, bothTypes, false},
	} {
		bubble(t, func(t *testing.T, h *fixture) {
			h.calls.do = takes(c.takes)
			a := h.legacy("tools/call", `{"name":"pets__getPet","_meta":`+c.meta+`}`, "Accept", c.accept)
			want := map[bool]string{true: "text/event-stream", false: "application/json"}[c.streams]
			if a.status != 200 || a.header.Get("Content-Type") != want || !strings.Contains(a.text, `"structuredContent":{"late":true}`) || !c.streams && a.at("result.isError") != nil {
				t.Errorf("%s: %d %q %s, want %s", name, a.status, a.header, a.text, want)
			}
		})
	}
	bubble(t, func(t *testing.T, h *fixture) {
		h.calls.do = takes(slow)
		a := h.post(`[`+callWithProgress("1")["legacy"][0]+`]`, "Accept", bothTypes)
		if a.status != 200 || a.header.Get("Content-Type") != "application/json" || !strings.HasPrefix(a.text, "[{") || !strings.Contains(a.text, `{"late":true}`) || strings.Contains(a.text, "notifications") {
			t.Errorf("of a batch: %d %s", a.status, a.text)
		}
	})
}

// reports is an upstream that sends progress, and answers when it has sent all of it.
func reports(steps ...func(tell func(done, total, message string))) do {
	return func(ctx context.Context, _ string, _ json.RawMessage) (mcpbus.Result, error) {
		watched := mcpcall.ProgressFunc(ctx)
		for _, step := range steps {
			step(func(done, total, message string) {
				p := mcpcall.Progress{Done: json.RawMessage(done)}
				if total != "" {
					p.Total = json.RawMessage(total)
				}
				if message != "" {
					p.Message = json.RawMessage(message)
				}
				watched(p)
			})
		}
		return answered(200, `{"late":true}`), nil
	}
}

func sendsProgress(done, total, message string) func(func(a, b, c string)) {
	return func(tell func(a, b, c string)) { tell(done, total, message) }
}

func waits(d time.Duration) func(func(a, b, c string)) {
	return func(func(a, b, c string)) { time.Sleep(d) }
}

func TestUpstreamsProgressIsForwardedWithTheClientsToken(t *testing.T) {
	for name, c := range map[string]struct {
		upstream do
		want     string
	}{
		"at once, as it is written": {
			reports(sendsProgress("0", "1.50", `"a\u0062"`), sendsProgress("1e0", "", ""), sendsProgress("1.25", "9007199254740993", "")),
			progressed(`"t"`, `0,"total":1.50,"message":"a\u0062"`) + progressed(`"t"`, `1e0`) + progressed(`"t"`, `1.25,"total":9007199254740993`),
		},
		"only what grows": {
			reports(sendsProgress("2", "", ""), sendsProgress("2", "", ""), sendsProgress("1", "", ""),
				sendsProgress("-3", "", ""), sendsProgress("2.5", "", "")),
			progressed(`"t"`, `2`) + progressed(`"t"`, `2.5`),
		},
		"and where it is silent, that the call goes on": {
			reports(sendsProgress("1", "3", ""), waits(12*time.Second), sendsProgress("2", "3", ""), waits(4*time.Second)),
			progressed(`"t"`, `1,"total":3`) + alive + progressed(`"t"`, `2,"total":3`) + "",
		},
		"on top of what the clock has told": {
			reports(waits(11*time.Second), sendsProgress("0", "4", ""), sendsProgress("0.5", "4", `"m"`), waits(10*time.Second), sendsProgress("4", "4", "")),
			progressed(`"t"`, `5`) + progressed(`"t"`, `10`) + progressed(`"t"`, `10.5,"total":14,"message":"m"`) + alive + progressed(`"t"`, `14,"total":14`),
		},
	} {
		for era, call := range callWithProgress(`"t"`) {
			bubble(t, func(t *testing.T, h *fixture) {
				h.calls.do = c.upstream
				s := h.begin(t.Context(), call[0], call[1:]...)
				time.Sleep(time.Minute)
				s.want(t, era+": "+name, c.want+delayedResult(era), true)
			})
		}
	}
}

// Nothing is to be written after the answer, and a client that does not read is gone.
func TestClientThatDoesNotReadProgressEndsItsCall(t *testing.T) {
	for era, call := range callWithProgress("1") {
		bubble(t, func(t *testing.T, h *fixture) {
			h.calls.do = takes(time.Hour)
			s := h.begin(t.Context(), call[0], call[1:]...)
			s.mu.Lock()
			s.stuck = true
			s.mu.Unlock()
			time.Sleep(5 * time.Second)
			s.want(t, era, "", true)
			if charges, events := h.meter.bill(); len(charges) != 1 || len(events) != 1 || events[0].Status != 499 {
				t.Errorf("%s: charged %v, noted %+v; want a call whose client has gone", era, charges, events)
			}
		})
	}
}

func TestProgressEndsWithTheErrorOfALongCall(t *testing.T) {
	for era, call := range callWithProgress("1") {
		bubble(t, func(t *testing.T, h *fixture) {
			h.calls.do = func(context.Context, string, json.RawMessage) (mcpbus.Result, error) {
				time.Sleep(6 * time.Second)
				panic("inner reason")
			}
			s := h.begin(t.Context(), call[0], call[1:]...)
			time.Sleep(6 * time.Second)
			s.want(t, era, progressed("1", "5")+"event: message\ndata: "+
				`{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"something failed here: try again, and tell the operator the time of this call"}}`+"\n\n", true)
		})
	}
}
