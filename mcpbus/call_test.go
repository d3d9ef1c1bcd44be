package mcpbus_test

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/keystile/keystile/internal/restcall"
	"github.com/keystile/keystile/mcpbus"
	"github.com/keystile/keystile/storage/event"
	"github.com/keystile/keystile/storage/toolplan"
)

type do = func(context.Context, string, json.RawMessage) (mcpbus.Result, error)

func always(r mcpbus.Result) do {
	return func(context.Context, string, json.RawMessage) (mcpbus.Result, error) { return r, nil }
}

const getPet = `{"name":"pets__getPet","arguments":{"id":1}}`

func TestCallReachesItsToolWithItsArguments(t *testing.T) {
	h := newFixture(t)
	for params, want := range map[string]string{
		`{"name":"pets__getPet","arguments":{"id":9007199254740993,"x":[1.0,{"y":null}]}}`: `pets.getPet {"id":9007199254740993,"x":[1.0,{"y":null}]}`,
		`{"name":"maths__add","arguments":{}}`:                                             `maths.add {}`,
		`{"name":"maths__add","arguments":null}`:                                           `maths.add `,
		`{"name":"maths__add"}`:                                                            `maths.add `,
		`{"name":"maths__add","Arguments":{"id":1}}`:                                       `maths.add `,
		`{"name":"maths\u005f_add","requestState":"x","task":{}}`:                          `maths.add `,
	} {
		h.calls.seen = nil
		a := h.legacy("tools/call", params)
		if a.status != 200 || a.code() != 0 || !slices.Equal(h.calls.seen, []string{want}) {
			t.Errorf("%s = %d %s, called %q, want %q", params, a.status, a.text, h.calls.seen, want)
		}
	}
	h.calls.seen = nil
	for _, params := range []string{
		"", "{}", `{"name":1}`, `{"Name":"maths__add"}`, `{"name":"maths__add","arguments":[1]}`, `{"name":"maths__add","arguments":"x"}`,
		`{"name":"add"}`, `{"name":"maths__ADD"}`, `{"name":"maths__"}`, `{"name":""}`, `{"name":"pets__add"}`,
	} {
		if a := h.legacy("tools/call", params); a.status != 200 || a.code() != -32602 {
			t.Errorf("%s = %d %s, want -32602", params, a.status, a.text)
		}
	}
	if charges, _ := h.meter.bill(); len(h.calls.seen) != 0 || len(charges) != 6 {
		t.Errorf("what is malformed called %v; %d charges, want 6", h.calls.seen, len(charges))
	}
}

func TestResultHasTheShapeOfItsRevision(t *testing.T) {
	const info = `"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"Keystile","version":"0.0.0"}}`
	text := []restcall.Content{{Type: "text", Text: "<t>"}}
	for name, c := range map[string]struct {
		result         restcall.Result
		legacy, modern string
	}{
		"an object": {restcall.Result{Content: text, Structured: []byte(` {"n":12345678901234567890}`), Dispatched: true, Status: 200},
			`{"content":[{"type":"text","text":"<t>"}],"structuredContent":{"n":12345678901234567890}}`,
			`{"content":[{"type":"text","text":"<t>"}],"structuredContent":{"n":12345678901234567890},"resultType":"complete",` + info + `}`},
		"a list": {restcall.Result{Content: text, Structured: []byte(`[1]`), Dispatched: true, Status: 200},
			`{"content":[{"type":"text","text":"<t>"}]}`,
			`{"content":[{"type":"text","text":"<t>"}],"structuredContent":[1],"resultType":"complete",` + info + `}`},
		"null": {restcall.Result{Content: text, Structured: []byte(`null`), Dispatched: true, Status: 200},
			`{"content":[{"type":"text","text":"<t>"}]}`,
			`{"content":[{"type":"text","text":"<t>"}],"structuredContent":null,"resultType":"complete",` + info + `}`},
		"an error": {restcall.Result{Content: text, IsError: true, Dispatched: true, Status: 422},
			`{"content":[{"type":"text","text":"<t>"}],"isError":true}`,
			`{"content":[{"type":"text","text":"<t>"}],"isError":true,"resultType":"complete",` + info + `}`},
		"nothing": {restcall.Result{Dispatched: true, Status: 204},
			`{"content":[]}`, `{"content":[],"resultType":"complete",` + info + `}`},
		"bytes": {restcall.Result{Content: []restcall.Content{{Type: "image", Data: []byte{1, 2}, MIMEType: "image/png"},
			{Type: "resource", Resource: &restcall.Resource{URI: "urn:x", Blob: []byte{3}}}}, Dispatched: true, Status: 200},
			`{"content":[{"type":"image","data":"AQI=","mimeType":"image/png"},{"type":"resource","resource":{"uri":"urn:x","blob":"Aw=="}}]}`,
			`{"content":[{"type":"image","data":"AQI=","mimeType":"image/png"},{"type":"resource","resource":{"uri":"urn:x","blob":"Aw=="}}],"resultType":"complete",` + info + `}`},
	} {
		h := newFixture(t)
		h.calls.do = always(mcpbus.FromREST(c.result))
		if a := h.legacy("tools/call", getPet); a.text != `{"jsonrpc":"2.0","id":1,"result":`+c.legacy+`}` {
			t.Errorf("%s, legacy: %s", name, a.text)
		}
		if a := h.modern("tools/call", `"name":"pets__getPet"`); a.text != `{"jsonrpc":"2.0","id":1,"result":`+c.modern+`}` {
			t.Errorf("%s, modern: %s", name, a.text)
		}
	}
}

// Decision 43.
func TestDispatchedCallIsChargedAndNotedOnce(t *testing.T) {
	charged, failed := []string{"app1 mcp failed false"}, []string{"app1 mcp failed true"}
	for name, c := range map[string]struct {
		do      do
		charges []string
		status  int
		code    int
	}{
		"a good call": {nil, charged, 200, 0},
		"a 404":       {always(answered(404, `{}`)), charged, 404, 0},
		"a 500":       {always(answered(500, `{}`)), failed, 500, 0},
		"no answer":   {always(mcpbus.Result{IsError: true, Dispatched: true, Cause: errAway}), failed, 502, 0},
		"refused arguments": {always(mcpbus.FromREST(restcall.Result{IsError: true,
			Content: []restcall.Content{{Type: "text", Text: "id is missing"}}})), nil, 400, 0},
		"trouble of ours": {func(context.Context, string,
			json.RawMessage) (mcpbus.Result, error) {
			return mcpbus.Result{}, errAway
		}, nil, 500, -32603},
		"a panic": {func(context.Context, string,
			json.RawMessage) (mcpbus.Result, error) {
			panic("inner reason")
		}, nil, 500, -32603},
		"a block that is no JSON":   {always(mcpbus.Result{Dispatched: true, Status: 200, Content: []json.RawMessage{[]byte(`{"inner reason`)}}), nil, 500, -32603},
		"an answer that is no JSON": {always(mcpbus.Result{Dispatched: true, Status: 200, Structured: []byte(`{"inner reason`)}), nil, 500, -32603},
	} {
		h := newFixture(t)
		h.calls.do = c.do
		for _, ask := range []func() answer{
			func() answer { return h.legacy("tools/call", getPet) }, func() answer { return h.modern("tools/call", `"name":"pets__getPet"`) },
		} {
			a := ask()
			if a.status != 200 || a.code() != c.code || strings.Contains(a.text, "inner reason") {
				t.Errorf("%s = %d %s", name, a.status, a.text)
			}
			charges, events := h.meter.bill()
			if !slices.Equal(charges, c.charges) || len(events) != 1 || events[0].Status != c.status {
				t.Errorf("%s: charged %v, noted %+v; want %v and status %d", name, charges, events, c.charges, c.status)
			}
		}
	}
}

func TestAuditRecordSaysWhoActedByDelegation(t *testing.T) {
	h := newFixture(t)
	h.calls.do = func(context.Context, string, json.RawMessage) (mcpbus.Result, error) { return answered(200, `{}`), nil }
	h.legacy("tools/call", getPet, "Authorization", "Bearer agent")
	_, events := h.meter.bill()
	if len(events) != 1 || events[0].User != "u1" || !slices.Equal(events[0].Actors, []string{"app1", "planner"}) {
		t.Errorf("noted %+v, want who acts for u1", events)
	}
}

func TestAuditRecordSaysWhoCalledWhat(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newFixture(t)
		h.calls.do = func(context.Context, string, json.RawMessage) (mcpbus.Result, error) {
			time.Sleep(3 * time.Second)
			return answered(201, `{"a":1}`), nil
		}
		began := time.Now()
		a := h.legacy("tools/call", getPet, "Authorization", "Bearer user", "X-Request-Id", "r-1")
		_, events := h.meter.bill()
		want := event.Event{
			At: began, Kind: event.ToolCall, RequestID: "r-1", App: "app1", User: "u1", Product: "mcp", Method: "POST",
			Path: "/api/mcp",
			IP:   "192.0.2.1", Route: "/api/mcp", Detail: "pets__getPet", Status: 201, Latency: 3 * time.Second, Bytes: int64(len(a.text) - len(`{"jsonrpc":"2.0","id":1,"result":}`)),
		}
		if len(events) != 1 || !reflect.DeepEqual(events[0], want) {
			t.Errorf("noted %+v, want %+v", events, want)
		}
		if a.header.Get("X-Request-Id") != "r-1" {
			t.Errorf("the answer names the request %q", a.header.Get("X-Request-Id"))
		}
	})
}

func TestCallThatCannotBeChargedIsNotAnswered(t *testing.T) {
	h := newFixture(t)
	h.meter.fail = errAway
	a := h.legacy("tools/call", getPet)
	if a.status != 200 || a.code() != -32603 || strings.Contains(a.text, "getPet") ||
		!strings.Contains(a.text, "counted") {
		t.Errorf("a call that cannot be charged = %d %s", a.status, a.text)
	}
	if _, events := h.meter.bill(); len(events) != 1 || events[0].Status != 503 || events[0].Bytes != 0 {
		t.Errorf("noted %+v", events)
	}
	if a := h.legacy("tools/list", ""); a.status != 200 || a.code() != 0 {
		t.Errorf("the list meanwhile = %d %s", a.status, a.text)
	}
}

func TestListingIsFree(t *testing.T) {
	h := newFixture(t)
	h.legacy("initialize", "{}")
	h.walk()
	h.modern("server/discover", "")
	h.legacy("tools/call", `{"name":"none"}`)
	if charges, events := h.meter.bill(); len(charges) != 0 || len(events) != 0 {
		t.Errorf("charged %v, noted %v", charges, events)
	}
}

func TestPanicInACallAnswersThatCallOnly(t *testing.T) {
	var log bytes.Buffer
	h := newFixture(t, func(c *mcpbus.Config) {
		c.Log = slog.New(slog.NewTextHandler(&log, nil))
		c.PerCaller, c.PerUpstream = 1, 1
	})
	h.calls.do = func(_ context.Context, tool string, _ json.RawMessage) (mcpbus.Result, error) {
		if tool == "pets.getPet" {
			var nobody *toolplan.Tool
			_ = nobody.Name
		}
		return answered(200, "{}"), nil
	}
	if a := h.legacy("tools/call", getPet); a.status != 200 || a.code() != -32603 {
		t.Errorf("a panic = %d %s", a.status, a.text)
	}
	if a := h.legacy("tools/call", `{"name":"pets__addPet"}`); a.status != 200 || a.code() != 0 || a.at("result.isError") != nil {
		t.Errorf("the next call = %d %s: the place of the one before was not given back", a.status, a.text)
	}
	if !strings.Contains(log.String(), "nil pointer") || !strings.Contains(log.String(), "call_test.go") {
		t.Errorf("the log does not say where: %s", log.String())
	}
}
