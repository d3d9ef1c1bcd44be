package mcpbus_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/keystile/keystile/mcpbus"
)

const quotaPath = `"io.github.keystile/quota":{"limit":1000,"remaining":`

func TestModelLearnsWhatIsLeftWithEachResult(t *testing.T) {
	h := newFixture(t)
	h.meter.quota = true
	h.calls.do = nil
	const call = `{"name":"pets__getPet","arguments":{}}`
	for i, c := range []struct {
		what string
		got  answer
		left string
	}{
		{"a legacy list", h.legacy("tools/list", ""), "1000"},
		{"a modern list", h.modern("tools/list", ""), "1000"},
		{"a legacy call", h.legacy("tools/call", call), "999"},
		{"a modern call", h.modern("tools/call", `"name":"pets__getPet","arguments":{}`), "998"},
		{"the list after them", h.legacy("tools/list", ""), "998"},
	} {
		want := quotaPath + c.left + `,"reset":"2026-12-01T00:00:00Z"}}`
		if c.got.status != 200 || !strings.Contains(c.got.text, want) || strings.Count(c.got.text, `"_meta"`) != 1 {
			t.Errorf("%d, %s: %s, want %s", i, c.what, c.got.text, want)
		}
	}
	if charges := h.meter.tools; !slices.Equal(charges, []string{"pets__getPet", "pets__getPet"}) {
		t.Errorf("charged the tools %q", charges)
	}
}

func TestToolsErrorHasTheQuotaToo(t *testing.T) {
	h := newFixture(t)
	h.meter.quota = true
	h.calls.do = fails
	for _, a := range []answer{h.legacy("tools/call", `{"name":"pets__getPet"}`), h.modern("tools/call", `"name":"pets__getPet"`)} {
		if isError, _ := a.at("result.isError").(bool); !isError || !strings.Contains(a.text, quotaPath) {
			t.Errorf("an error of a tool is %s", a.text)
		}
	}
	if a := h.legacy("tools/call", `{"name":"pets__none"}`); a.code() == 0 || strings.Contains(a.text, "quota") {
		t.Errorf("what is no result is %s", a.text)
	}
}

func TestQuotaUnknownIsLeftOut(t *testing.T) {
	h := newFixture(t)
	for _, method := range []string{"tools/list", "tools/call"} {
		params := ""
		if method == "tools/call" {
			params = `"name":"pets__getPet"`
		}
		legacy, modern := h.legacy(method, "{"+params+"}"), h.modern(method, params)
		if legacy.at("result._meta") != nil || legacy.at("result") == nil {
			t.Errorf("%s: %s", method, legacy.text)
		}
		if !strings.HasSuffix(modern.text, `"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"Keystile","version":"0.0.0"}}}}`) {
			t.Errorf("%s: %s", method, modern.text)
		}
	}
}

var _ mcpbus.Meter = (*meter)(nil)

func fails(context.Context, string, json.RawMessage) (mcpbus.Result, error) {
	return answered(500, `{"error":"broken"}`), nil
}

func TestHeadersOfAnAnswerStandBesideTheQuota(t *testing.T) {
	h := newFixture(t)
	h.calls.do = func(context.Context, string, json.RawMessage) (mcpbus.Result, error) {
		return mcpbus.Result{
			Dispatched: true, Status: 201, Content: []json.RawMessage{json.RawMessage(`{"type":"text","text":"made"}`)},
			Headers: map[string]string{"Location": `/pets/9?a="1"&b=2`},
		}, nil
	}
	for _, quota := range []bool{false, true} {
		h.meter.quota = quota
		for _, a := range []answer{h.legacy("tools/call", `{"name":"pets__getPet"}`),
			h.modern("tools/call", `"name":"pets__getPet"`)} {
			meta, _ := a.at("result._meta").(map[string]any)
			headers, _ := meta["io.github.keystile/headers"].(map[string]any)
			if _, left := meta["io.github.keystile/quota"]; headers["Location"] != `/pets/9?a="1"&b=2` ||
				left != quota {
				t.Errorf("with a quota %v: %s", quota, a.text)
			}
		}
	}
	h.calls.do = nil
	if a := h.legacy("tools/call", `{"name":"pets__getPet"}`); strings.Contains(a.text, "headers") {
		t.Errorf("headers of another call: %s", a.text)
	}
}
