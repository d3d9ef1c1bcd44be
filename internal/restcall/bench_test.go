package restcall

import (
	"bytes"
	"io"
	"net/http"
	"testing"

	"github.com/keystile/keystile/internal/netguard"
	"github.com/keystile/keystile/storage"
)

// The direct call stands beside ours, over the same connections, so that one run gives
// the difference.

func BenchmarkCall(b *testing.B) {
	u := serve(b, false, nil)
	u.server.Config.Handler = answers(200, `{"id":42,"name":"Rex","tags":["a","b"]}`, "Content-Type", "application/json")
	g, err := netguard.New(netguard.Config{Allow: []string{u.server.Listener.Addr().String()}})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { g.Close(b.Context()) })
	client, c := g.Client(0), newCaller(b, Config{Transport: g.Transport()})
	p, arguments := compile(b, usual), []byte(`{"id":42,"fields":["name","tags"],"name":"Rex","age":3}`)
	to := Upstream{BaseURL: u.server.URL + "/v1", AuthType: "bearer", Secret: storage.NewSecret("upstream-token")}

	b.Run("direct", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			direct(b, client, to.BaseURL+"/pets/42?fields=name&fields=tags")
		}
	})
	b.Run("call", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if r, err := c.Call(b.Context(), to, p, arguments); err != nil || r.IsError {
				b.Fatal(r, err)
			}
		}
	})
	b.Run("build alone", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := p.Build(to, arguments); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// usual is a tool with two parameters and a body of two fields.
var usual = tool("put", "/pets/{petId}", "application/json", []string{"id", "fields", "name", "age"}, map[string]arg{
	"id":     {`{"type":"integer","minimum":1}`, pathArg("petId")},
	"fields": {`{"type":"array","items":{"type":"string","enum":["name","tags"]}}`, queryArg("fields")},
	"name":   {`{"type":"string","maxLength":40}`, fieldArg("name")},
	"age":    {`{"type":"integer"}`, fieldArg("age")},
})

func direct(b *testing.B, client *http.Client, url string) {
	r, err := http.NewRequestWithContext(b.Context(), http.MethodPut, url, bytes.NewReader([]byte(`{"name":"Rex","age":3}`)))
	if err != nil {
		b.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Authorization", "Bearer upstream-token")
	resp, err := client.Do(r)
	if err != nil {
		b.Fatal(err)
	}
	if _, err := io.ReadAll(resp.Body); err != nil {
		b.Fatal(err)
	}
	resp.Body.Close()
}

func BenchmarkCompile(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Compile(usual); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkRedact reads answers of 1 MiB: without escapes, as an API gives them, and made of
// little else than escapes or the secret itself.
func BenchmarkRedact(b *testing.B) {
	secret := "sk-live-0123456789abcdefghijklmnop/+="
	c, err := Upstream{AuthType: "basic", Secret: storage.NewSecret("user:" + secret)}.Credential()
	if err != nil {
		b.Fatal(err)
	}
	for name, piece := range map[string]string{
		"short": `{"id":42,"name":"Rex"}`,
		"plain": `{"id":42,"name":"Rex","tags":["a","b"]},`, "usual": `{"id":42,"name":"R\u00e9x \"the dog\"","url":"https:\/\/a.example\/x?y=%2F&z"},`,
		"escapes": `\u0073\u006b\u002d`, "nested": `\\\\u0073%255c`, "echo": secret + ",", "almost": secret[:len(secret)-1], "one letter": "s",
	} {
		answer := bytes.Repeat([]byte(piece), 1<<20/len(piece))
		if name == "short" {
			answer = []byte(piece)
		}
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(answer)))
			b.ReportAllocs()
			for b.Loop() {
				c.Redact(answer)
			}
		})
	}
}
