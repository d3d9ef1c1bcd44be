package mcpbus_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/keystile/keystile/internal/restcall"
	"github.com/keystile/keystile/mcpbus"
)

// resource_link came with MCP 2025-06-18.
func TestLinkIsATextWhereTheRevisionHasNone(t *testing.T) {
	h := newFixture(t)
	const link = `{"type":"resource_link","mimeType":"text/csv","uri":"https://files.example.org/a?b&c","name":"answer","description":"the whole answer","size":11}`
	const text = `{"type":"text","text":"answer https://files.example.org/a?b&c: the whole answer"}`
	h.calls.do = func(context.Context, string, json.RawMessage) (mcpbus.Result, error) {
		return mcpbus.FromREST(restcall.Result{Dispatched: true, Status: 200, Content: []restcall.Content{
			{Type: "text", Text: "before"},
			{Type: "resource_link", MIMEType: "text/csv", Link: &restcall.Link{URI: "https://files.example.org/a?b&c",
				Name: "answer", Description: "the whole answer", Size: 11}},
			{Type: "image", Data: []byte("x"), MIMEType: "image/png"},
		}}), nil
	}
	around := func(block string) string {
		return `"content":[{"type":"text","text":"before"},` + block + `,{"type":"image","data":"eA==","mimeType":"image/png"}]`
	}
	for revision, want := range map[string]string{"": text, "2024-11-05": text, "2025-03-26": text, "2025-06-18": link,
		"2025-11-25": link} {
		if a := h.legacy("tools/call", `{"name":"pets__getPet"}`, "MCP-Protocol-Version", revision); a.status != 200 || !strings.Contains(a.text, around(want)) {
			t.Errorf("under %q: %d %s, want %s", revision, a.status, a.text, around(want))
		}
	}
	if a := h.modern("tools/call", `"name":"pets__getPet"`); a.status != 200 || !strings.Contains(a.text, around(link)) {
		t.Errorf("under %s: %d %s", version, a.status, a.text)
	}
}

// A link of an upstream MCP server is a link too.
func TestLinkOfAnUpstreamServerIsATextTooWhereTheRevisionHasNone(t *testing.T) {
	h := newFixture(t)
	h.calls.do = func(context.Context, string, json.RawMessage) (mcpbus.Result, error) {
		return mcpbus.Result{Dispatched: true, Status: 200, Content: []json.RawMessage{json.RawMessage(`{"type":"resource\u005flink","uri":"file:///a","name":"n"}`), json.RawMessage(`{"type":"resource","resource":{"uri":"urn:a","text":"resource_link"}}`)}}, nil
	}
	want := `"content":[{"type":"text","text":"n file:///a"},{"type":"resource","resource":{"uri":"urn:a","text":"resource_link"}}]`
	if a := h.legacy("tools/call", `{"name":"pets__getPet"}`); !strings.Contains(a.text, want) {
		t.Errorf("%s, want %s", a.text, want)
	}
}
