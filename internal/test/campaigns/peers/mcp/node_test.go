package mcp

import (
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// The JavaScript clients live in ../node, with their versions locked. The script changes
// the list by asking here.
func TestStockJavaScriptClients(t *testing.T) {
	if _, err := exec.LookPath("node"); err != nil {
		t.Skip("node is not installed")
	}
	if _, err := os.Stat("../node/node_modules/@modelcontextprotocol/client"); err != nil {
		t.Skip("the clients are not installed: run npm ci in internal/test/campaigns/peers/node")
	}
	for script, least := range map[string]int{"mcp-v1.mjs": 5, "mcp-v2.mjs": 15} {
		t.Run(script, func(t *testing.T) {
			h := newFixture(t)
			change := http.NewServeMux()
			change.HandleFunc("/change", func(w http.ResponseWriter, r *http.Request) {
				h.register("more", 3)
				if err := h.bus.Reload(r.Context()); err != nil {
					t.Error(err)
				}
			})
			control := serve(t, change)
			cmd := exec.CommandContext(t.Context(), "node", script)
			cmd.Dir = "../node"
			cmd.Env = append(os.Environ(), "BUS="+h.url+"/api/mcp", "TOKEN="+h.bearer, "CHANGE="+control+"/change")
			out, err := cmd.CombinedOutput()
			if err != nil || strings.Count(string(out), "ok: ") < least {
				t.Errorf("%s: %v\n%s", script, err, out)
			}
			t.Logf("%s", out)
		})
	}
}
