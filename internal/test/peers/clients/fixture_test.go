package clients

import (
	"os"
	"os/exec"
	"testing"

	"github.com/keystile/keystile"
)

// listed has discovery list ES256 too, for clients that believe it about id_tokens and have no HS256: the setting
// id_token_algs.
var listed = []func(*keystile.Config){func(c *keystile.Config) { c.OAuth.IDTokenAlgs = []string{"HS256", "ES256"} }}

// installed skips a test where a client of npm is not.
func installed(t *testing.T, name string) {
	t.Helper()
	if _, err := exec.LookPath("node"); err != nil {
		t.Skip("node is not installed")
	}
	if _, err := os.Stat(node + "/node_modules/" + name); err != nil {
		t.Skip("the clients are not installed: run npm ci --include=dev in internal/test/peers/node")
	}
}
