package mcpbus_test

import (
	"strings"
	"testing"
)

// MCP 2026-07-28, streamable HTTP: what headers and _meta must say.
func TestModernRequestSaysWhatItIsTwice(t *testing.T) {
	h := newFixture(t)
	list := modernBody("tools/list", "")
	call := modernBody("tools/call", `"name":"pets__getPet"`)
	v := []string{"MCP-Protocol-Version", version}
	with := func(headers ...string) []string { return append(headers, v...) }
	for name, c := range map[string]struct {
		body         string
		headers      []string
		status, code int
	}{
		"all of it": {list, with("Mcp-Method", "tools/list"), 200, 0},
		"a call":    {call, with("Mcp-Method", "tools/call", "Mcp-Name", "pets__getPet"), 200, 0},
		"a call, its name encoded": {call, with("Mcp-Method", "tools/call", "Mcp-Name", "=?base64?cGV0c19fZ2V0UGV0?="), 200,
			0},
		"no version header": {list, []string{"Mcp-Method", "tools/list"}, 400, -32020},
		"a legacy header": {list, []string{"MCP-Protocol-Version", "2025-11-25", "Mcp-Method", "tools/list"}, 400,
			-32020},
		"no method header":           {list, v, 400, -32020},
		"another method":             {list, with("Mcp-Method", "tools/call"), 400, -32020},
		"the method in capitals":     {list, with("Mcp-Method", "Tools/List"), 400, -32020},
		"no name header":             {call, with("Mcp-Method", "tools/call"), 400, -32020},
		"another name":               {call, with("Mcp-Method", "tools/call", "Mcp-Name", "pets__addPet"), 400, -32020},
		"another name, encoded":      {call, with("Mcp-Method", "tools/call", "Mcp-Name", "=?base64?eA==?="), 400, -32020},
		"a name that does not parse": {call, with("Mcp-Method", "tools/call", "Mcp-Name", "=?base64?%?="), 400, -32020},
		"the header alone":           {legacyBody("tools/list", ""), with("Mcp-Method", "tools/list"), 400, -32602},
		"no capabilities": {strings.Replace(list, "clientCapabilities", "else", 1),
			with("Mcp-Method", "tools/list"), 400, -32602},
		"capabilities as a list":     {strings.Replace(list, `Capabilities":{}`, `Capabilities":[]`, 1), with("Mcp-Method", "tools/list"), 400, -32602},
		"a version that is a number": {strings.Replace(list, `"`+version+`"`, "20260728", 1), with("Mcp-Method", "tools/list"), 400, -32602},
		"an unknown version": {strings.Replace(list, version, "2099-01-01", 1),
			[]string{"MCP-Protocol-Version", "2099-01-01", "Mcp-Method", "tools/list"}, 400, -32022},
		"a legacy version in _meta": {strings.Replace(list, version, "2025-11-25", 1),
			[]string{"MCP-Protocol-Version", "2025-11-25", "Mcp-Method", "tools/list"}, 400, -32022},
		"an unknown header alone": {legacyBody("tools/list", ""), []string{"MCP-Protocol-Version", "1.0"}, 400, -32022},
		"no such method":          {modernBody("ping", ""), with("Mcp-Method", "ping"), 404, -32601},
		"initialize":              {modernBody("initialize", ""), with("Mcp-Method", "initialize"), 404, -32601},
		"a call of no name":       {modernBody("tools/call", ""), with("Mcp-Method", "tools/call"), 400, -32602},
	} {
		a := h.post(c.body, c.headers...)
		if a.status != c.status || a.code() != c.code || a.body["id"] != 1.0 {
			t.Errorf("%s = %d %s, want %d and %d", name, a.status, a.text, c.status, c.code)
		}
		if len(a.body) != 3 { // jsonrpc, id, and result or error: strict clients take nothing else
			t.Errorf("%s: the answer is not JSON-RPC alone: %s", name, a.text)
		}
	}
	r := request(t.Context(), list, with("Mcp-Method", "tools/list")...)
	r.Header.Add("MCP-Protocol-Version", version)
	if a := send(h.bus, r); a.code() != -32020 {
		t.Errorf("the version header twice = %d %s", a.status, a.text)
	}
}

func TestUnsupportedRevisionGetsTheSupportedOnes(t *testing.T) {
	h := newFixture(t)
	long := strings.Repeat("9", 5000)
	for asked, told := range map[string]string{"2099-01-01": "2099-01-01", long: long[:64]} {
		a := h.legacy("tools/list", "", "MCP-Protocol-Version", asked)
		supported, _ := a.at("error.data.supported").([]any)
		if len(supported) != 1 || supported[0] != version || a.at("error.data.requested") != told {
			t.Errorf("%.20s: %s", asked, a.text)
		}
	}
}

func TestDiscoverSaysWhatTheBusIs(t *testing.T) {
	h := newFixture(t)
	a := h.modern("server/discover", "")
	want := `{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{"listChanged":true}},` +
		`"ttlMs":5000,"cacheScope":"private","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"Keystile","version":"0.0.0"}}}}`
	if a.status != 200 || a.text != want {
		t.Errorf("server/discover = %d %s, want %s", a.status, a.text, want)
	}
}
