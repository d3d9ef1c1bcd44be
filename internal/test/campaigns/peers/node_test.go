package peers

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/keystile/keystile/storage"
)

// The JavaScript clients live in node/, with their versions locked.
func TestStockJavaScriptClients(t *testing.T) {
	if _, err := exec.LookPath("node"); err != nil {
		t.Skip("node is not installed")
	}
	if _, err := os.Stat("node/node_modules"); err != nil {
		t.Skip("the clients are not installed: run npm ci in internal/test/campaigns/peers/node")
	}
	for _, script := range []string{"openid-client.mjs", "oauth4webapi.mjs"} {
		t.Run(script, func(t *testing.T) {
			h := newFixture(t, "HS256", "ES256")
			es256 := h.register(t, storage.App{IDTokenAlg: "ES256"})
			hs256 := h.register(t, storage.App{})
			public := h.register(t, storage.App{Public: true})
			cmd := exec.CommandContext(t.Context(), "node", script)
			cmd.Dir = "node"
			cmd.Env = append(os.Environ(), "ISSUER="+h.url, "REDIRECT=https://app.example.com/cb", "USERNAME="+username,
				"PASSWORD="+password,
				"ES256_ID="+es256.ID, "ES256_SECRET="+es256.AppKey().Reveal(),
				"HS256_ID="+hs256.ID, "HS256_SECRET="+hs256.AppKey().Reveal(), "PUBLIC_ID="+public.ID)
			out, err := cmd.CombinedOutput()
			if err != nil || strings.Count(string(out), "ok: ") < 5 {
				t.Errorf("%s: %v\n%s", script, err, out)
			}
			t.Logf("%s", out)
		})
	}
}
