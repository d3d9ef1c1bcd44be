package restcall

import (
	"strings"
	"testing"

	"github.com/keystile/keystile/storage/toolplan"
)

func TestTextOfJSONIsReadWhereNoTextIsAdmitted(t *testing.T) {
	deep := strings.Repeat("[", 64) + strings.Repeat("]", 64)
	for _, c := range []struct{ schema, value, want string }{
		{`{"type":"array","items":{"type":"string"}}`, `"[\"a\",\"b\"]"`, `["a","b"]`},
		{`{"type":"object"}`, `"{\"a\": 1}"`, `{"a": 1}`},
		{`{"type":"integer"}`, `"5"`, `5`},
		{`{"type":"integer"}`, `" 5 "`, `5`},
		{`{"type":"number","minimum":1}`, `"1.50"`, `1.50`},
		{`{"type":"integer"}`, `"9007199254740993"`, `9007199254740993`},
		{`{"type":"boolean"}`, `"true"`, `true`},
		{`{"type":["integer","null"]}`, `"5"`, `5`},
		{`{"type":["integer","null"]}`, `"null"`, `null`},
		{`{"enum":[1,2]}`, `"2"`, `2`},
		{`{"const":true}`, `"true"`, `true`},
		{`{"anyOf":[{"type":"integer"},{"type":"array","items":{"type":"integer"}}]}`, `"[1,\"2\"]"`, `[1,2]`},
		{`{"allOf":[{"type":"array"},{"items":{"type":"boolean"}}]}`, `"[\"false\"]"`, `[false]`},
		{`{"type":"array","items":{"type":"integer"}}`, `["1",2]`, `[1,2]`},
		{`{"type":"object","properties":{"n":{"type":"integer"},"l":{"type":"array"},"s":{"type":"string"}}}`,
			`{"n":"1","l":"[]","s":"2","é":"3"}`, `{"n":1,"l":[],"s":"2","é":"3"}`},
		{`{"type":"object","properties":{"n":{"type":"integer"}}}`, `"{\"n\":\"1\"}"`, `{"n":1}`},

		{`{"type":"string"}`, `"5"`, `"5"`},
		{`{}`, `"[1]"`, `"[1]"`},
		{`{"type":["string","integer"]}`, `"5"`, `"5"`},
		{`{"anyOf":[{"type":"integer"},{"type":"string"}]}`, `"5"`, `"5"`},
		{`{"enum":["1",2]}`, `"1"`, `"1"`},

		{`{"type":"integer"}`, `"x"`, ``}, {`{"type":"integer"}`, `"1.5"`, ``}, {`{"type":"integer"}`, `"\"5\""`, ``},
		{`{"type":"integer"}`, `""`, ``},
		{`{"type":"integer","maximum":3}`, `"5"`, ``}, {`{"type":"boolean"}`, `"True"`, ``}, {`{"type":"integer"}`,
			`"null"`, ``}, {`{"type":"array"}`, `"{}"`, ``},
		{`{"type":"object"}`, `"{\"a\":1,\"a\":2}"`, ``}, {`{"type":"array"}`, `"` + deep + deep + `"`, ``},
		{`{"type":"array","items":{"type":"array","items":{}}}`, `["` + deep + `"]`, ``},
	} {
		r, err := build(t, one("post", "/", "application/json", c.schema, fieldArg("x")), `{"x":`+c.value+`}`)
		switch {
		case c.want == "":
			if err == nil || !strings.Contains(err.Error(), `argument "x`) {
				t.Errorf("%s of %.80s: %+v, %v, want it refused", c.schema, c.value, r, err)
			}
		case err != nil || string(r.body) != `{"x":`+c.want+`}`:
			t.Errorf("%s of %s: %+v, %v, want %s", c.schema, c.value, r, err, c.want)
		}
	}
	list := one("get", "/", "", `{"type":"array","items":{"type":"integer"}}`, toolplan.Param{Name: "x", In: "query",
		Explode: true})
	if r, err := build(t, list, `{"x":"[1,2]"}`); err != nil || r.url.RawQuery != "x=1&x=2" {
		t.Errorf("a list in the query: %+v, %v", r, err)
	}
	if r, err := build(t, list, `"{\"x\":[1]}"`); err != nil || r.url.RawQuery != "x=1" {
		t.Errorf("all arguments in a text: %+v, %v", r, err)
	}
}

// A schema that visits itself and a long text cost no more than a bounded number of visits.
func TestReadingTextsIsBounded(t *testing.T) {
	m := textDecoder{10}
	s := compileSchema([]byte(`{"type":"array","items":{"type":"integer"}}`), 0)
	if got := m.value(s, []byte(`["1","2","3","4","5","6","7","8","9","10","11"]`),
		0); string(got) != `[1,2,3,4,5,6,7,8,9,"10","11"]` {
		t.Errorf("%s after ten visits", got)
	}
}

func TestArgumentsThatClientsAddAreIgnoredAndSaid(t *testing.T) {
	u := serve(t, false, answers(200, `{"a":1}`))
	plan := compile(t, one("get", "/", "", `{"type":"string"}`, toolplan.Param{Name: "x", In: "query"}))
	caller := u.caller(t, Config{})
	result, err := caller.Call(t.Context(), Upstream{BaseURL: base}, plan,
		raw(`{"x":"1","sessionId":"s","action":"sendMessage","chatInput":"hi","toolCallId":"c","tool":"t"}`))
	if err != nil || result.IsError || len(result.Content) != 2 {
		t.Fatalf("%+v, %v, want the answer and a line", result, err)
	}
	if said, want := result.Content[1].Text,
		"Ignored, since the tool takes no such argument: sessionId, action, chatInput, toolCallId, "+
			"tool."; said != want {
		t.Errorf("%q is said, want %q", said, want)
	}
	if result, err = caller.Call(t.Context(), Upstream{BaseURL: base}, plan,
		raw(`{"wait_for_previous":true,"security_risk":"LOW"}`)); err != nil || result.IsError {
		t.Errorf("%+v, %v, want it sent", result, err)
	}
	for _, c := range []struct{ arguments, want string }{
		{`{"action":"delete"}`, `unknown argument "action"`}, {`{"sessionId":"s","colour":"red"}`,
			`unknown argument "colour"`}, {`{"SessionId":"s"}`, `unknown argument "SessionId"`},
	} {
		if _, err := plan.Build(Upstream{BaseURL: base}, raw(c.arguments)); err == nil || !strings.Contains(err.Error(),
			c.want) || strings.Contains(err.Error(), `"sessionId"`) {
			t.Errorf("%s: %v, want %s", c.arguments, err, c.want)
		}
	}
	own := one("get", "/", "", `{"type":"string"}`, toolplan.Param{Name: "sessionId", In: "query"})
	if r, err := build(t, own, `{"x":"s"}`); err != nil || r.url.RawQuery != "sessionId=s" || len(r.ignored) > 0 {
		t.Errorf("a tool that has such an argument: %+v, %v", r, err)
	}
}
