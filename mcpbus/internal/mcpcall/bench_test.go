package mcpcall

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/keystile/keystile/internal/netguard"
)

// The direct POST stands beside ours, over the same connections, so that one run gives the
// difference.
func BenchmarkCall(b *testing.B) {
	for _, u := range []*upstream{{era: Modern}, {era: Modern, stream: true}, {era: Legacy, keeps: true}} {
		serve(b, u)
		result := `{"resultType":"complete","content":[{"type":"text","text":"{\"id\":42,\"name\":\"Rex\"}"}],"structuredContent":{"id":42,"name":"Rex"}}`
		u.first = func(w http.ResponseWriter, r *http.Request, m sent) bool {
			u.mu.Lock()
			u.seen = nil // or it grows with the run
			u.mu.Unlock()
			if m.method == "tools/call" {
				u.answer(w, m, result)
			}
			return m.method == "tools/call"
		}
		g, err := netguard.New(netguard.Config{Allow: []string{"127.0.0.1"}})
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { g.Close(b.Context()) })
		c, arguments := client(b, Config{Transport: g.Transport()}), raw(`{"id":42,"fields":["name","tags"]}`)
		name := string(u.era) + map[bool]string{true: " stream", false: " json"}[u.stream]
		b.Run(name+"/direct", func(b *testing.B) {
			client, body := g.Client(0), `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"get","arguments":`+string(arguments)+`,`+meta+`}}`
			b.ReportAllocs()
			for b.Loop() {
				resp, err := client.Post(u.at().URL, "application/json", strings.NewReader(body))
				if err != nil {
					b.Fatal(err)
				}
				io.Copy(io.Discard, resp.Body)
				resp.Body.Close()
			}
		})
		b.Run(name+"/call", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if r, err := c.Call(b.Context(), u.at(), "get", arguments); err != nil || r.IsError {
					b.Fatal(texts(r), err)
				}
			}
		})
	}
}
