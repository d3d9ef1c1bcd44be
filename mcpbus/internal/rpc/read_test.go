package rpc

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
)

func TestIDIsKeptAsItWasSent(t *testing.T) {
	for _, id := range []string{"1", "0", "-7", "1152921504606846976", "1e3", "1.50", "1E+2", `"x"`, `""`, `"\u0041\/"`, `"` + strings.Repeat("y", 254) + `"`} {
		m := one(t, `{"jsonrpc":"2.0", "id" : `+id+` ,"method":"ping"}`)
		if m.Wrong != nil || string(m.ID) != id || !m.IsRequest() {
			t.Errorf("id %s: %s, %v", id, m.ID, m.Wrong)
		}
	}
	for _, id := range []string{"null", "true", "false", `{"id":1}`, "[1]", "[]", `"` + strings.Repeat("y", 255) + `"`} {
		if m := one(t, `{"jsonrpc":"2.0","id":`+id+`,"method":"ping"}`); m.Wrong == nil || m.Wrong.Code != InvalidRequest || m.ID != nil {
			t.Errorf("id %s: %s, %v; want it refused", id, m.ID, m.Wrong)
		}
	}
	if m := one(t, `{"jsonrpc":"2.0","method":"notifications/initialized"}`); m.Wrong != nil || m.IsRequest() {
		t.Errorf("without an id it is %+v, want a notification", m)
	}
}

func TestMessageHasOneForm(t *testing.T) {
	for name, text := range map[string]string{
		"no jsonrpc": `{"id":7,"method":"ping"}`, "jsonrpc 1.0": `{"jsonrpc":"1.0","id":7,"method":"ping"}`, "jsonrpc as a number": `{"jsonrpc":2.0,"id":7,"method":"ping"}`,
		"no method": `{"jsonrpc":"2.0","id":7}`, "Method": `{"jsonrpc":"2.0","id":7,"Method":"ping"}`, "METHOD": `{"jsonrpc":"2.0","id":7,"METHOD":"ping"}`,
		"a method that is no string": `{"jsonrpc":"2.0","id":7,"method":["ping"]}`,
		"params as a list":           `{"jsonrpc":"2.0","id":7,"method":"ping","params":[]}`, "params before the id": `{"jsonrpc":"2.0","method":"ping","params":[],"id":7}`, "params null": `{"jsonrpc":"2.0","id":7,"method":"ping","params":null}`,
		"a result": `{"jsonrpc":"2.0","id":7,"result":{}}`, "an error": `{"jsonrpc":"2.0","id":7,"error":{"code":1,"message":"x"}}`,
	} {
		if m := one(t, text); m.Wrong == nil || m.Wrong.Code != InvalidRequest || string(m.ID) != "7" {
			t.Errorf("%s: %+v, want it refused with its id", name, m)
		}
	}
	for _, text := range []string{"1", `"x"`, "null", "true"} {
		if m := one(t, text); m.Wrong == nil {
			t.Errorf("%s is a message", text)
		}
	}
	m := one(t, ` {"jsonrpc":"2.0","id":7,"m\u0065thod":"tools\/call","more":1,"params":{"name":"a","Name":"b","arguments":{"n":1.0}}} `)
	if name, ok := m.Params.Text("name"); m.Wrong != nil || m.Method != "tools/call" || name != "a" || !ok || string(m.Params.Get("arguments")) != `{"n":1.0}` {
		t.Errorf("an escaped name and an unknown member: %+v", m)
	}
}

func TestRequestTextHasOneMeaning(t *testing.T) {
	many := func(n int, last string) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, `"k%d":0,`, i)
		}
		return `{` + b.String() + last + `}`
	}
	for name, c := range map[string]struct {
		text string
		code int
	}{
		"nothing":                 {"", ParseError},
		"two values":              {"{} {}", ParseError},
		"a cut text":              {`{"jsonrpc":"2.0"`, ParseError},
		"not UTF-8":               {"{\"a\":\"\xff\"}", ParseError},
		"a byte order mark":       {"\xef\xbb\xbf{}", ParseError},
		"a name twice":            {`{"id":1,"id":2}`, InvalidRequest},
		"a name twice, escaped":   {`{"id":1,"\u0069d":2}`, InvalidRequest},
		"a name twice, deep":      {`{"params":[{"a":{"x":1,"y":2,"x":3}}]}`, InvalidRequest},
		"the 17th name twice":     {many(17, `"k16":1`), InvalidRequest},
		"an early name, late":     {many(40, `"k3":1`), InvalidRequest},
		"10,001 names":            {many(10_000, `"k":1`), InvalidRequest},
		"73 levels":               {strings.Repeat("[", 73) + strings.Repeat("]", 73), InvalidRequest},
		"73 levels of objects":    {strings.Repeat(`{"a":`, 73) + "1" + strings.Repeat("}", 73), InvalidRequest},
		"a million levels":        {strings.Repeat("[", 1_000_000), ParseError},
		"a batch of none":         {"[]", InvalidRequest},
		"a batch of 17":           {"[1" + strings.Repeat(",1", 16) + "]", InvalidRequest},
		"an odd name, then twice": {`{"a\"":1,"a\u0022":2}`, InvalidRequest},
	} {
		if messages, _, err := Read([]byte(c.text)); err == nil || err.Code != c.code || messages != nil {
			t.Errorf("%s: %d messages, %v; want code %d", name, len(messages), err, c.code)
		}
	}
	for name, text := range map[string]string{
		"9,999 names": many(9_999, `"k":1`), "72 levels": strings.Repeat("[", 71) + "{}" + strings.Repeat("]", 71),
		"names in different objects": `{"a":{"x":1},"b":{"x":1},"x":[{"x":1},{"x":1}]}`,
	} {
		if _, _, err := Read([]byte(text)); err != nil {
			t.Errorf("%s: %v, want it read", name, err)
		}
	}
}

func TestBatchIsReadOneByOne(t *testing.T) {
	messages, batch, err := Read([]byte(` [ {"jsonrpc":"2.0","id":1,"method":"a"} , 5, {"jsonrpc":"2.0","method":"b"}]`))
	if err != nil || !batch || len(messages) != 3 {
		t.Fatalf("%d messages, batch %t, %v", len(messages), batch, err)
	}
	if messages[0].Method != "a" || messages[1].Wrong == nil || messages[2].Method != "b" || messages[2].IsRequest() {
		t.Errorf("it is %+v", messages)
	}
}

func TestObjectAnswersForWhatIsThere(t *testing.T) {
	m := one(t, `{"jsonrpc":"2.0","id":1,"method":"x","params":{"t":"a\nb","yes":true,"one":1,"o":{"i":"j"}, "last" : [1, {"a":2}] }}`)
	inner, ok := m.Params.Object("o")
	if i, _ := inner.Text("i"); !ok || i != "j" {
		t.Errorf("Object(o) = %v, %t", inner, ok)
	}
	if text, ok := m.Params.Text("t"); text != "a\nb" || !ok {
		t.Errorf("Text(t) = %q, %t", text, ok)
	}
	if !m.Params.True("yes") || m.Params.True("one") || m.Params.True("none") {
		t.Error("True(yes), True(one), True(none) are not true, false, false")
	}
	if string(m.Params.Get("last")) != `[1, {"a":2}]` {
		t.Errorf("Get(last) = %s", m.Params.Get("last"))
	}
	for _, name := range []string{"one", "none"} {
		if _, ok := m.Params.Text(name); ok {
			t.Errorf("Text(%s) is a text", name)
		}
		if _, ok := m.Params.Object(name); ok {
			t.Errorf("Object(%s) is an object", name)
		}
	}
	if (Object{}).Get("x") != nil {
		t.Error("nothing at all has a member")
	}
}

func FuzzRead(f *testing.F) {
	for _, seed := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"ping"}`, `[{"jsonrpc":"2.0","id":"a","method":"x","params":{"a":[1,{"b":"\ud800"}]}}]`,
		`{"id":1e3,"id":2}`, `[[[[]]]]`, "\xff", ` {"a" : { } , "b":[ ] }`, `{"\"\\":"\\\""}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		before := bytes.Clone(body)
		messages, _, err := Read(body)
		if (err == nil) == (messages == nil) {
			t.Fatalf("%d messages and %v", len(messages), err)
		}
		for _, m := range messages {
			if m.Wrong == nil && m.Method == "" && !bytes.Contains(body, []byte(`""`)) {
				t.Errorf("a message without a method: %+v", m)
			}
			if m.ID != nil && !bytes.Contains(body, m.ID) {
				t.Errorf("the id %s was not sent", m.ID)
			}
		}
		if !bytes.Equal(before, body) {
			t.Error("the body was changed")
		}
	})
}

func one(t *testing.T, text string) Message {
	t.Helper()
	messages, batch, err := Read([]byte(text))
	if err != nil || batch || len(messages) != 1 {
		t.Fatalf("Read(%s) = %d messages, batch %t, %v", text, len(messages), batch, err)
	}
	return messages[0]
}
