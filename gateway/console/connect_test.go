package console_test

import (
	"strings"
	"testing"

	"github.com/keystile/keystile/storage"
)

// The page of each capability and of each tool set has the address that agents want, and the line for each client.
func TestMCPAddressIsOnThePagesOfTools(t *testing.T) {
	h, _, dev := shopFixture(t)
	root := h.testUser("root", storage.RoleAdmin)
	h.do("POST", "/api/console/bundles", root.cookie, `{"name":"daily","tools":["shop__getPet"]}`)
	for path, address := range map[string]string{
		"/console/capabilities/shop":     base + "/api/mcp",
		"/console/bundles?connect=daily": base + "/api/mcp/b/daily",
	} {
		page := h.open(path, dev.cookie).Body.String()
		for _, want := range []string{`data-copy>` + address + `</pre>`, "claude mcp add --transport http keystile",
			" " + address + "</pre>", "codex mcp add keystile", "code --add-mcp", "mcpServers", "npx mcp-remote " + address} {
			if !strings.Contains(page, want) {
				t.Errorf("%s lacks %s", path, want)
			}
		}
	}
	for _, name := range []string{"none", `"><script>alert(1)</script>`, "../x", "a b; rm"} {
		page := h.open("/console/bundles?connect="+strings.ReplaceAll(name, " ", "+"), dev.cookie).Body.String()
		if strings.Contains(page, "mcp-remote") || strings.Contains(page, "<script>alert") {
			t.Errorf("there is an address of a tool set %q that is not there", name)
		}
	}
}
