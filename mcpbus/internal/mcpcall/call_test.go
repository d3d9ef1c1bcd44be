package mcpcall

import (
	"strings"
	"testing"
)

// Decision 41: a call by name, in either era.
func TestCallReachesTheToolAndItsResultTheCaller(t *testing.T) {
	const arguments = ` { "n" : 9007199254740993, "e":1e400, "html":"<&>" } `
	const content = `{"type":"text","text":"<n>"}`
	const structured = `{"n": 9007199254740993,"b":[1.0, 2],"a":"\u00e9"}`
	for _, u := range []*upstream{
		{era: Modern}, {era: Modern, stream: true}, {era: Legacy, keeps: true}, {era: Legacy, stream: true},
		{era: Legacy, version: "2024-11-05"},
	} {
		u.call = func(sent) string {
			return `{"content":[` + content + `],"structuredContent":` + structured + `,"_meta":{}}`
		}
		serve(t, u)
		c := client(t, Config{})
		for range 2 {
			r, err := c.Call(t.Context(), u.at(), "add", raw(arguments))
			if err != nil || r.IsError || len(r.Content) != 1 || string(r.Content[0]) != content ||
				string(r.Structured) != structured {
				t.Fatalf("%s: Call() = %+v, %v; says %s", u.era, r, err, texts(r))
			}
			if !r.Dispatched || r.Status != 200 || r.Bytes < 100 || r.Cause != nil {
				t.Errorf("%s: the account of the call is %+v", u.era, r)
			}
			m := u.last()
			if string(m.params["name"]) != `"add"` || string(m.params["arguments"]) != strings.TrimSpace(arguments) {
				t.Errorf("%s: arrived as %s", u.era, m.body)
			}
			if m.header.Get("Content-Type") != "application/json" ||
				m.header.Get("Accept") != "application/json, text/event-stream" || m.header.Get("User-Agent") != "keystile" {
				t.Errorf("%s: the headers are %v", u.era, m.header)
			}
		}
		if n := strings.Count(u.walk(), "tools/call"); n != 2 {
			t.Errorf("%s: %d calls arrived, want 2: %s", u.era, n, u.walk())
		}
	}
}

func TestOddNamesAreSentWhole(t *testing.T) {
	for name, header := range map[string]string{
		"sub.tract/x": "sub.tract/x", "获取": "=?base64?6I635Y+W?=", " a": "=?base64?IGE=?=",
		"=?base64?x": "=?base64?PT9iYXNlNjQ/eA==?=", "a\tb": "=?base64?YQli?=",
	} {
		u := serve(t, &upstream{era: Modern, first: says("tools/call", plain(200, "application/json", `{"jsonrpc":"2.0","id":$id,"result":{"content":[]}}`))})
		r, err := client(t, Config{}).Call(t.Context(), u.at(), name, nil)
		if m := u.last(); err != nil || r.IsError || m.header.Get("Mcp-Name") != header ||
			string(m.params["name"]) != quote(name) {
			t.Errorf("%q: arrived as %q, %s; %v", name, m.header.Get("Mcp-Name"), m.params["name"], err)
		}
	}
}

func TestCallThatIsMalformedIsNotSent(t *testing.T) {
	u := serve(t, &upstream{era: Modern})
	deep := `{"a":` + strings.Repeat("[", 64) + strings.Repeat("]", 64) + `}`
	for _, c := range []struct{ name, arguments, want string }{
		{"x", `[1]`, "must be an object"}, {"x", `"a"`, "must be an object"}, {"x", `{`, "must be one JSON value"}, {"x", `{} {}`, "must be one JSON value"},
		{"x", "{\"a\":\"\xff\"}", "must be one JSON value"}, {"x", deep, "at most 64 levels"}, {"x", `{"a":1,"\u0061":2}`, "a member twice"},
		{"x", `{"a":[{"b":1,"b":1}]}`, "a member twice"}, {"x", `{"a":"` + strings.Repeat("x", 4<<20) + `"}`, "more than 4 MiB"},
		{"", `{}`, "the name of the tool"}, {strings.Repeat("x", 257), `{}`, "the name of the tool"}, {"\xff", `{}`, "the name of the tool"},
	} {
		r, err := client(t, Config{}).Call(t.Context(), u.at(), c.name, raw(c.arguments))
		if err != nil || !r.IsError || r.Dispatched || !strings.Contains(texts(r), c.want) {
			t.Errorf("%.40s %.40s: %+v, %v, says %q, want %s", c.name, c.arguments, r, err, texts(r), c.want)
		}
	}
	if got := u.walk(); got != "" {
		t.Errorf("asked %s, want nothing", got)
	}
	for _, nothing := range []string{"", " ", "null", " {} "} {
		if r, err := client(t, Config{}).Call(t.Context(), u.at(), "x", raw(nothing)); err != nil || r.IsError ||
			string(u.last().params["arguments"]) != "{}" {
			t.Errorf("%q: arrived as %s, %v", nothing, u.last().body, err)
		}
	}
}
