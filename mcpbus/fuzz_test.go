package mcpbus_test

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http/httptest"
	"testing"

	"github.com/keystile/keystile/internal/restcall"
	"github.com/keystile/keystile/mcpbus"
)

// FuzzBody sends any body as either kind of client. The answer is JSON or nothing, and
// never a failure of ours.
func FuzzBody(f *testing.F) {
	for _, body := range []string{
		legacyBody("tools/call", getPet), legacyBody("tools/list", `{"cursor":"a"}`), legacyBody("initialize", "{}"),
		modernBody("tools/list", ""), modernBody("server/discover", ""), modernBody("tools/call", `"name":"pets__getPet"`),
		modernBody("subscriptions/listen", listenTools), "[" + legacyBody("ping", "") + "]", `{"jsonrpc":"2.0","id":1e3}`, "[[", "",
	} {
		f.Add([]byte(body), "", "")
		f.Add([]byte(body), version, "tools/list")
	}
	h := newFixture(f)
	f.Fuzz(func(t *testing.T, body []byte, revision, method string) {
		gone, leave := context.WithCancel(t.Context())
		leave() // or a stream would not end
		r := httptest.NewRequestWithContext(gone, "POST", busURI, bytes.NewReader(body))
		r.Header.Set("Authorization", "Bearer app")
		if revision != "" {
			r.Header["Mcp-Protocol-Version"] = []string{revision}
			r.Header["Mcp-Method"] = []string{method}
			r.Header["Mcp-Name"] = []string{method}
		}
		a := send(h.bus, r)
		stream := a.header.Get("Content-Type") == "text/event-stream"
		switch {
		case a.status >= 500:
			t.Errorf("%q = %d %s", body, a.status, a.text)
		case a.status == 202 && a.text != "", a.status != 202 && !stream && !json.Valid([]byte(a.text)):
			t.Errorf("%q = %d %q", body, a.status, a.text)
		}
	})
}

// FuzzResult writes texts and values of any kind as encoding/json does, without its care for HTML.
func FuzzResult(f *testing.F) {
	for _, text := range []string{"Rex", "<a>&\"\\", "\x00\n\u2028\xff", `{"a" : [ 1, "b c" ]}`, "[\n1\n]", "{", "\"\xff\""} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		block := restcall.Content{Type: "text", Text: text}
		got := mcpbus.FromREST(restcall.Result{Content: []restcall.Content{block}}).Content[0]
		if want := encoded(block); !bytes.Equal(got, want) {
			t.Errorf("a block is %q, want %q", got, want)
		}
		value, err := mcpbus.AppendValue([]byte("x"), []byte(text))
		if want := encoded(json.RawMessage(text)); (err == nil) != (want != nil) || err == nil &&
			string(value) != "x"+string(want) {
			t.Errorf("a value is %q, %v, want %q", value, err, want)
		}
	})
}

// encoded returns nil for what encoding/json refuses.
func encoded(v any) []byte {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if enc.Encode(v) != nil {
		return nil
	}
	return bytes.TrimSuffix(out.Bytes(), []byte("\n"))
}
