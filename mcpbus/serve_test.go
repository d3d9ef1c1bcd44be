package mcpbus_test

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/keystile/keystile/mcpbus"
)

// Decision 42.
func TestLegacyIsAnsweredWithOrWithoutWhatItsRevisionsAdd(t *testing.T) {
	h := newFixture(t)
	for name, headers := range map[string][]string{
		"nothing":             {"Content-Type", ""},
		"a content type":      {"Content-Type", "application/json; charset=utf-8"},
		"Accept of JSON":      {"Accept", "application/json"},
		"Accept of a page":    {"Accept", "text/html"},
		"Accept of both":      {"Accept", "application/json, text/event-stream"},
		"an old session":      {"Mcp-Session-Id", "s1"},
		"an event id":         {"Last-Event-ID", "7"},
		"2024-11-05":          {"MCP-Protocol-Version", "2024-11-05"},
		"2025-03-26":          {"MCP-Protocol-Version", "2025-03-26"},
		"2025-06-18":          {"MCP-Protocol-Version", "2025-06-18"},
		"2025-11-25":          {"MCP-Protocol-Version", "2025-11-25"},
		"our own origin":      {"Origin", issuer},
		"a method header too": {"Mcp-Method", "else"},
	} {
		for _, c := range []struct{ method, params string }{
			{"ping", ""}, {"tools/list", ""}, {"tools/list", `{"_meta":{"progressToken":1}}`},
			{"tools/call", `{"name":"pets__getPet"}`}, {"resources/list", ""}, {"server/discover", ""}, {"subscriptions/listen", `{"notifications":{}}`},
		} {
			a := h.legacy(c.method, c.params, headers...)
			if a.status != 200 || a.header.Get("Content-Type") != "application/json" || a.body["jsonrpc"] != "2.0" ||
				a.body["id"] != 1.0 {
				t.Errorf("%s with %s = %d %s", c.method, name, a.status, a.text)
			}
			if a.header.Get("Mcp-Session-Id") != "" || a.header.Get("Cache-Control") != "no-store" {
				t.Errorf("%s with %s: %v, want no session and nothing kept", c.method, name, a.header)
			}
			if missing := c.method == "resources/list" || strings.Contains(c.method, "/discover") ||
				strings.Contains(c.method, "/listen"); (a.code() == -32601) != missing {
				t.Errorf("%s with %s: error %d", c.method, name, a.code())
			}
		}
	}
}

func TestInitializeEchoesARevisionThatIsSpoken(t *testing.T) {
	h := newFixture(t, func(c *mcpbus.Config) { c.Name, c.Version, c.Instructions = "Bus", "1.2.3", "Ask for pets." })
	for asked, given := range map[string]string{
		"2024-11-05": "2024-11-05", "2025-03-26": "2025-03-26", "2025-06-18": "2025-06-18", "2025-11-25": "2025-11-25",
		"2026-07-28": "2025-11-25", "2099-01-01": "2025-11-25", "": "2025-11-25",
	} {
		a := h.legacy("initialize", `{"protocolVersion":"`+asked+`","capabilities":{},"clientInfo":{"name":"c","version":"1"}}`)
		want := `{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"` + given + `","capabilities":{"tools":{}},"serverInfo":{"name":"Bus","version":"1.2.3"},"instructions":"Ask for pets."}}`
		if a.status != 200 || a.text != want {
			t.Errorf("initialize(%s) = %d %s, want %s", asked, a.status, a.text, want)
		}
	}
}

func TestIDsComeBackByteForByte(t *testing.T) {
	h := newFixture(t)
	for _, id := range []string{"1152921504606846976", "1e3", "-0", "1.50", `"x"`, `""`, `"\u0041\/<&>"`} {
		for what, a := range map[string]answer{
			"ping":         h.post(`{"jsonrpc":"2.0","id":` + id + `,"method":"ping"}`),
			"an error":     h.post(`{"jsonrpc":"2.0","id":` + id + `,"method":"none"}`),
			"a refusal":    h.post(`{"id":` + id + `,"method":"ping"}`),
			"a modern one": h.post(strings.Replace(modernBody("server/discover", ""), `"id":1`, `"id":`+id, 1), modernHeaders("server/discover", "")...),
		} {
			if !strings.Contains(a.text, `"id":`+id+`,`) {
				t.Errorf("%s to id %s = %d %s", what, id, a.status, a.text)
			}
		}
	}
	for _, id := range []string{"null", "true", `{"a":1}`, "[1]"} {
		a := h.post(`{"jsonrpc":"2.0","id":` + id + `,"method":"ping"}`)
		if a.status != 400 || a.code() != -32600 || a.body["id"] != nil || a.body["errcode"] != 400.0 {
			t.Errorf("id %s = %d %s, want it refused", id, a.status, a.text)
		}
	}
}

func TestNotificationsAreTakenAndNotAnswered(t *testing.T) {
	h := newFixture(t)
	for name, a := range map[string]answer{
		"legacy": h.post(`{"jsonrpc":"2.0","method":"notifications/initialized"}`),
		"a call": h.post(`{"jsonrpc":"2.0","method":"tools/call","params":{"name":"pets__getPet"}}`),
		"modern": h.post(`{"jsonrpc":"2.0","method":"notifications/progress"}`, "MCP-Protocol-Version", version, "Mcp-Method", "notifications/progress"),
	} {
		if a.status != 202 || a.text != "" {
			t.Errorf("%s = %d %q, want 202 and nothing", name, a.status, a.text)
		}
	}
	if len(h.calls.seen) != 0 {
		t.Errorf("a notification called %v", h.calls.seen)
	}
	a := h.post(`{"jsonrpc":"2.0","method":"notifications/progress"}`, "MCP-Protocol-Version", version, "Mcp-Method", "else")
	if a.status != 400 || a.code() != -32020 {
		t.Errorf("a notification that is not what its header says = %d %s", a.status, a.text)
	}
}

func TestPagesOfOtherOriginsMayNotCall(t *testing.T) {
	h := newFixture(t, func(c *mcpbus.Config) { c.Origins = []string{"https://app.example.com"} })
	for origin, ok := range map[string]bool{
		issuer: true, "https://app.example.com": true,
		"https://evil.example": false, "null": false, "http://id.example.com": false, issuer + ":8443": false,
		issuer + ".evil.example": false, "HTTPS://ID.EXAMPLE.COM": false,
	} {
		a := h.legacy("ping", "", "Origin", origin)
		if ok != (a.status == 200) || !ok && (a.status != 403 || a.body["errcode"] != 403.0 || a.code() != -32000) {
			t.Errorf("Origin %s = %d %s, want it admitted: %t", origin, a.status, a.text, ok)
		}
	}
	r := request(t.Context(), legacyBody("ping", ""), "Origin", issuer)
	r.Header.Add("Origin", "https://evil.example")
	if a := send(h.bus, r); a.status != 403 {
		t.Errorf("two origins = %d", a.status)
	}
	if a := h.legacy("ping", "", "Origin", "https://evil.example", "Authorization", ""); a.status != 403 {
		t.Errorf("a strange page without a token = %d, want 403 before 401", a.status)
	}
}

func TestBodiesThatAreNoMessageAreRefused(t *testing.T) {
	h := newFixture(t)
	for name, c := range map[string]struct {
		body         string
		headers      []string
		status, code int
	}{
		"nothing":        {"", nil, 400, -32700},
		"no JSON":        {"{", nil, 400, -32700},
		"a number":       {"1", nil, 400, -32600},
		"deep":           {`{"jsonrpc":"2.0","id":1,"method":"ping","params":` + strings.Repeat(`{"a":`, 100) + "1" + strings.Repeat("}", 101), nil, 400, -32600},
		"deeper":         {strings.Repeat("[", 1<<20), nil, 400, -32700},
		"doubled":        {`{"jsonrpc":"2.0","id":1,"method":"ping","method":"tools/list"}`, nil, 400, -32600},
		"doubled inside": {`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"pets__getPet","arguments":{"id":1,"id":2}}}`, nil, 400, -32600},
		"other case":     {`{"jsonrpc":"2.0","id":1,"Method":"ping"}`, nil, 400, -32600},
		"a response":     {`{"jsonrpc":"2.0","id":1,"result":{}}`, nil, 400, -32600},
		"a form": {legacyBody("ping", ""), []string{"Content-Type", "application/x-www-form-urlencoded"}, 415,
			-32000},
		"text":        {legacyBody("ping", ""), []string{"Content-Type", "text/plain"}, 415, -32000},
		"an odd type": {legacyBody("ping", ""), []string{"Content-Type", ";;"}, 415, -32000},
		"too long":    {`{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":"` + strings.Repeat("y", 4<<20) + `"}}`, nil, 413, -32000},
	} {
		a := h.post(c.body, c.headers...)
		if a.status != c.status || a.code() != c.code || a.body["errcode"] != float64(c.status) ||
			a.body["code"] != float64(c.status) || a.body["msg"] == "" {
			t.Errorf("%s = %d %s, want %d and %d", name, a.status, a.text, c.status, c.code)
		}
	}
	r := request(t.Context(), "")
	r.Body, r.ContentLength = io.NopCloser(io.MultiReader(strings.NewReader(`"`), strings.NewReader(strings.Repeat("y", 5<<20)))), -1
	if a := send(h.bus, r); a.status != 413 {
		t.Errorf("too long, and of a length that is not told = %d", a.status)
	}
	r.Body = io.NopCloser(io.MultiReader(strings.NewReader("{"), brokenOff{}))
	if a := send(h.bus, r); a.status != 400 {
		t.Errorf("a body that breaks off = %d", a.status)
	}
	if len(h.calls.seen) != 0 {
		t.Errorf("called %v", h.calls.seen)
	}
	fits := `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":"` + strings.Repeat("y", 4<<20-100) + `"}}`
	if a := h.post(fits); a.status != 200 {
		t.Errorf("a body of nearly 4 MiB = %d", a.status)
	}
}

type brokenOff struct{}

func (brokenOff) Read([]byte) (int, error) { return 0, errors.New("reset") }

func TestBatchesAreOfTheRevisionsThatHaveThem(t *testing.T) {
	const batch = `[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","method":"notifications/initialized"},7,{"jsonrpc":"2.0","id":"c","method":"tools/call","params":{"name":"maths__add"}},{"jsonrpc":"2.0","id":3,"method":"none"}]`
	h := newFixture(t)
	for _, headers := range [][]string{nil, {"MCP-Protocol-Version", "2025-03-26"},
		{"MCP-Protocol-Version", "2024-11-05"}} {
		a := h.post(batch, headers...)
		want := `[{"jsonrpc":"2.0","id":1,"result":{}},{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"a message is a JSON object"}},` +
			`{"jsonrpc":"2.0","id":"c","result":{"content":[{"type":"text","text":"{\"tool\":\"maths.add\"}"}],"structuredContent":{"tool":"maths.add"}}},` +
			`{"jsonrpc":"2.0","id":3,"error":{"code":-32601,"message":"the bus does not have this method"}}]`
		if a.status != 200 || a.text != want {
			t.Errorf("with %v it is %d %s, want %s", headers, a.status, a.text, want)
		}
	}
	for _, v := range []string{"2025-06-18", "2025-11-25", version} {
		if a := h.post(batch, "MCP-Protocol-Version", v); a.status != 400 || a.code() != -32600 {
			t.Errorf("under %s a batch = %d %s", v, a.status, a.text)
		}
	}
	if a := h.post(`[{"jsonrpc":"2.0","method":"a"},{"jsonrpc":"2.0","method":"b"}]`); a.status != 202 || a.text != "" {
		t.Errorf("a batch of notifications = %d %s", a.status, a.text)
	}
	if a := h.post(`[` + modernBody("server/discover", "") + `]`); a.status != 200 || !strings.Contains(a.text, "-32600") {
		t.Errorf("a modern message in a batch = %d %s", a.status, a.text)
	}
}

// The rate counts requests, so a batch must not be a way to call faster.
func TestBatchCarriesOneCall(t *testing.T) {
	h := newFixture(t)
	call := legacyBody("tools/call", `{"name":"maths__add"}`)
	a := h.post("[" + call + "," + call + "," + call + "]")
	if len(h.calls.seen) != 1 || strings.Count(a.text, "-32600") != 2 ||
		!bytes.Contains([]byte(a.text), []byte("structuredContent")) {
		t.Errorf("three calls in a batch called %v: %s", h.calls.seen, a.text)
	}
}
