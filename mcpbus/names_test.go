package mcpbus_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/keystile/keystile/mcpbus"
)

// A model calls by names that it can write, and the upstream gets those that it knows.
func TestAnUpstreamGetsItsOwnNamesOfArguments(t *testing.T) {
	var sent []string
	upstream := mcpUpstream(t, func(_ *http.Request, method string, arguments json.RawMessage) string {
		if method == "tools/call" {
			sent = append(sent, string(arguments))
			return `"content":[{"type":"text","text":"done"}]`
		}
		return `"tools":[{"name":"find","inputSchema":{"type":"object","properties":{"uids[]":{"type":"array",` +
			`"items":{"type":"object","properties":{"@id":{"type":"string"}}}},"$top":{"type":"integer"}},` +
			`"required":["uids[]"]}}]`
	})
	u := localUpstreams(t)
	c := quick("quick")
	c.UpstreamURL = upstream.URL
	found, skipped, err := u.Find(t.Context(), c)
	if err != nil || len(found) != 1 || len(skipped) != 0 {
		t.Fatalf("found %v, left out %v, %v", found, skipped, err)
	}
	h := emptyFixture(t)
	h.register(c, found...) // as it is stored and read again
	h.open(func(c *mcpbus.Config) { c.Invoker = u })
	if a := h.legacy("tools/list", ""); !strings.Contains(a.text,
		`"top":{"description":"\"$top\" in the API.","type":"integer"}`) ||
		!strings.Contains(a.text, `"required":["uids"]`) {
		t.Errorf("the list is %s", a.text)
	}
	if a := h.legacy("tools/call",
		`{"name":"quick__find","arguments":{"uids":[{"id":"a"}],"top":3,"other":{"top":1}}}`); !strings.Contains(a.text,
		"done") {
		t.Errorf("the call is answered %s", a.text)
	}
	if a := h.legacy("tools/call",
		`{"name":"quick__find","arguments":{"uids":[],"uids[]":[]}}`); !strings.Contains(a.text,
		`\"uids[]\" is there twice`) || !strings.Contains(a.text, `"isError":true`) {
		t.Errorf("a call with both names is answered %s", a.text)
	}
	if want := `{"uids[]":[{"@id":"a"}],"$top":3,"other":{"top":1}}`; len(sent) != 1 || sent[0] != want {
		t.Errorf("the upstream got %q, want %s once", sent, want)
	}
}
