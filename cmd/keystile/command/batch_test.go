package command

import (
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/keystile/keystile/mcpbus"
	"github.com/keystile/keystile/storage"
)

// Decision 63: a rate is of messages, however they are packed.
func TestMessageOfABatchCountsAgainstTheRate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		app, err := w.store.SaveApp(t.Context(), storage.App{Name: "Free", Domains: []string{"app.example.com"},
			Tier: storage.TierFree})
		fatal(t, err)
		header := http.Header{"Authorization": {"Bearer " + w.machine(app)}, "Mcp-Protocol-Version": {"2025-03-26"},
			"Content-Type": {"application/json"}}
		batch := func(n int) (int, string) {
			one := `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`
			_, out := w.send("POST", mcpbus.Path, "["+strings.TrimSuffix(strings.Repeat(one+",", n), ",")+"]", header)
			return out.Code, out.Header().Get("Retry-After")
		}
		for i := range 3 { // 48 messages, and one for the token
			if status, _ := batch(16); status != 200 {
				t.Fatalf("batch %d = %d", i+1, status)
			}
		}
		if status, retry := batch(16); status != 429 || retry == "" {
			t.Errorf("the batch with message 64 of a minute = %d, Retry-After %q; the rate is 60", status, retry)
		}
	})
}
