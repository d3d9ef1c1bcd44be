package mcpbus_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/keystile/keystile/mcpbus"
)

// mcpUpstream is an MCP upstream whose results have the members that result returns for a request, its method and the
// arguments of the tool.
func mcpUpstream(t *testing.T,
	result func(r *http.Request, method string, arguments json.RawMessage) string) *httptest.Server {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var m struct {
			ID     json.RawMessage
			Method string
			Params struct{ Arguments json.RawMessage }
		}
		body, _ := io.ReadAll(r.Body)
		json.Unmarshal(body, &m)
		w.Header().Set("Content-Type", "application/json")
		io.WriteString(w, `{"jsonrpc":"2.0","id":`+string(m.ID)+`,"result":{"resultType":"complete",`+
			result(r, m.Method, m.Params.Arguments)+`}}`)
	}))
	t.Cleanup(s.Close)
	return s
}

// localUpstreams returns Upstreams that may call servers of the test.
func localUpstreams(t *testing.T) *mcpbus.Upstreams {
	u := must(mcpbus.NewUpstreams(mcpbus.UpstreamsConfig{AllowPrivateUpstreams: []string{"127.0.0.0/8"},
		Log: quiet}))(t)
	t.Cleanup(func() { u.Close(context.Background()) })
	return u
}

// A model calls by names that it can write, and the upstream gets those that it knows.
func TestUpstreamGetsItsOwnNamesOfArguments(t *testing.T) {
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
	found, err := u.Discover(t.Context(), c)
	if err != nil || len(found.Tools) != 1 || len(found.Skipped) != 0 {
		t.Fatalf("found %+v, %v", found, err)
	}
	h := emptyFixture(t)
	h.register(c, found.Tools...) // as it is stored and read again
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
