package openapi

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestFieldsOfXMLStandInItsDescription(t *testing.T) {
	r := withContent(t, "3.0.3",
		media{"application/xml": json.RawMessage(`{"schema":{
			"type":"object","xml":{"name":"pet"},"required":["name"],"properties":{
		"id":{"type":"integer","nullable":true},"name":{"type":"string","description":"what it is called"},
			"status":{"type":"string","enum":["sold","free"]},"tags":{"type":"array","items":{}},"x":{}}}}`)})
	sound(t, r.Tools[0])
	want := `the whole body, as application/xml, within <pet>. ` +
		`Fields: id (integer); name (string, required): what it is called; ` +
		`status (string, one of [\"sold\",\"free\"]); tags (array); x`
	if got := string(r.Tools[0].InputSchema); !strings.Contains(got, `"description":"`+want+`","type":"string"`) {
		t.Errorf("the schema is %s, want %s", got, want)
	}
	body, contentType, refused := send(t, r.Tools[0], []byte(`{"body":"<pet><name>x</name></pet>"}`))
	if body != "<pet><name>x</name></pet>" || contentType != "application/xml" || refused != "" {
		t.Errorf("%q as %s %s", body, contentType, refused)
	}
}

func TestJSONLinesTakeAList(t *testing.T) {
	line := `{"type":"object","required":["a"],"properties":{"a":{"type":"integer"}}}`
	for _, c := range []struct{ kind, content, value, want string }{
		{"application/x-ndjson", `{"schema":` + line + `}`, `[{"a":1},{"a": 2}]`, "{\"a\":1}\n{\"a\":2}\n"},
		{"application/x-ndjson", `{"schema":{"type":"array","items":` + line + `}}`, `[{"a":1}]`, "{\"a\":1}\n"},
		{"application/x-ndjson", `{"schema":{"type":"string"}}`, `[1,"a\nb",null]`, "1\n\"a\\nb\"\nnull\n"},
		{"application/jsonl", `{"itemSchema":` + line + `}`, `[{"a":1}]`, "{\"a\":1}\n"},
		{"application/json-seq", `{"itemSchema":` + line + `}`, `[{"a":1}]`, "\x1e{\"a\":1}\n"},
		{"application/x-ndjson; charset=utf-8", `{}`, `"[1,2]"`, "1\n2\n"},
		{"application/x-ndjson", `{"schema":` + line + `}`, `[]`, ""},
	} {
		r := withContent(t, "3.2.0", media{c.kind: json.RawMessage(c.content)})
		sound(t, r.Tools[0])
		if shown := string(r.Tools[0].InputSchema); !strings.Contains(shown, `"type":"array"`) ||
			!strings.Contains(shown,
				"each element is sent as a line of JSON") {
			t.Errorf("%s is shown as %s", c.content, shown)
		} else if strings.Contains(c.content, "integer") && !strings.Contains(shown, "Fields: a (integer, required)") {
			t.Errorf("%s is shown as %s, want its fields", c.content, shown)
		}
		body, contentType, refused := send(t, r.Tools[0], []byte(`{"body":`+c.value+`}`))
		kind, _, _ := strings.Cut(c.kind, ";")
		if body != c.want || refused != "" || contentType != kind && c.want != "" {
			t.Errorf("%s of %s: %q as %s %s, want %q", c.kind, c.value, body, contentType, refused, c.want)
		}
	}
}
