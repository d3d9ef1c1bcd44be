package mcpcall

import (
	"maps"
	"net/http"
	"strings"
	"testing"
)

// x-mcp-header (MCP 2026-07-28, Streamable HTTP): some arguments are sent as headers too.
func TestArgumentsAreMirroredInHeaders(t *testing.T) {
	const schema = `{"type":"object","properties":{
		"region":{"type":"string","x-mcp-header":"Region"},
		"n":{"type":"integer","x-mcp-header":"Count"},
		"dry":{"type":"boolean","x-mcp-header":"dry-run"},
		"in":{"type":"object","properties":{"deep":{"type":"string","x-mcp-header":"Deep"}}},
		"plain":{"type":"string"}}}`
	for arguments, want := range map[string]map[string]string{
		`{"region":"eu","n":42,"dry":false,"in":{"deep":"获取"},"plain":"p"}`: {"Mcp-Param-Region": "eu", "Mcp-Param-Count": "42", "Mcp-Param-dry-run": "false", "Mcp-Param-Deep": "=?base64?6I635Y+W?="},
		`{"region":null,"n":9007199254740993}`:                              {"Mcp-Param-Count": "9007199254740993"},
		`{"region":["eu"],"in":7}`:                                          {},
		`{}`:                                                                {},
	} {
		u := serve(t, &upstream{era: Modern, list: func(string) string { return `{"tools":[{"name":"x","inputSchema":` + schema + `},{"name":"y"}]}` }})
		c := client(t, Config{})
		if found, err := c.Discover(t.Context(), u.at()); err != nil || len(found.Tools) != 2 ||
			strings.Contains(string(found.Tools[0].InputSchema), "x-mcp") {
			t.Fatalf("Discover() = %+v, %v", found, err)
		}
		if r, err := c.Call(t.Context(), u.at(), "x", raw(arguments)); err != nil || r.IsError {
			t.Errorf("%s: %s, %v", arguments, texts(r), err)
		}
		if got := mirroredHeaders(u.last().header); !maps.Equal(got, canonical(want)) {
			t.Errorf("%s: the headers are %v, want %v", arguments, got, want)
		}
		c.Call(t.Context(), u.at(), "y", raw(arguments))
		if got := mirroredHeaders(u.last().header); len(got) != 0 {
			t.Errorf("another tool has the headers %v, want none", got)
		}
	}
}

func mirroredHeaders(h http.Header) map[string]string {
	out := map[string]string{}
	for name := range h {
		if strings.HasPrefix(name, "Mcp-Param-") {
			out[name] = h.Get(name)
		}
	}
	return out
}

func canonical(h map[string]string) map[string]string {
	out := map[string]string{}
	for name, value := range h {
		out[http.CanonicalHeaderKey(name)] = value
	}
	return out
}

func TestArgumentThatIsTooLongForAHeaderIsNotSent(t *testing.T) {
	u := serve(t, &upstream{era: Modern, list: func(string) string {
		return `{"tools":[{"name":"x","inputSchema":{"type":"object","properties":{"a":{"type":"string","x-mcp-header":"A"}}}}]}`
	}})
	c := client(t, Config{})
	c.Discover(t.Context(), u.at())
	r, err := c.Call(t.Context(), u.at(), "x", raw(`{"a":"`+strings.Repeat("x", 8193)+`"}`))
	if err != nil || !r.IsError || !strings.Contains(texts(r), `"a" must have at most 8192 bytes`) || strings.Contains(u.walk(), "tools/call") {
		t.Errorf("Call() says %s, %v; asked %s", texts(r), err, u.walk())
	}
}

func TestMirroredArgumentsAreFew(t *testing.T) {
	var properties []string
	for i := range 33 {
		properties = append(properties, `"a`+strings.Repeat("x", i)+`":{"type":"string","x-mcp-header":"A`+strings.Repeat("x", i)+`"}`)
	}
	whole := func(n int) raw {
		return raw(`{"type":"object","properties":{` + strings.Join(properties[:n], ",") + `}}`)
	}
	if err := (&mirror{}).add("x", whole(32)); err != nil {
		t.Errorf("add(32) = %v, want no error", err)
	}
	if err := (&mirror{}).add("x", whole(33)); err == nil {
		t.Error("add(33) = no error, want one")
	}
}
