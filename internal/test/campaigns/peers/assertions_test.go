package peers

import (
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/keystile/keystile"
	"github.com/keystile/keystile/internal/test/campaigns/agents"
	"github.com/keystile/keystile/internal/test/vendordocs"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/client"
	"github.com/keystile/keystile/storage/trust"
)

// Applications that are registered here sign what they send to the token endpoint by libraries of others, with the
// defaults of those; an assistant is let in by what an identity provider says of its user.
func TestStockClientsProveThemselvesByKeysAndAssertions(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts programs")
	}
	clientsAreInstalled(t, "@modelcontextprotocol/client")
	idp := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Write([]byte(vendordocs.KeySet(t)))
	}))
	defer idp.Close()
	site := agents.Start(t, func(c *keystile.Config) {
		c.OAuth.Assertions.Issuers = []trust.Issuer{{Issuer: idp.URL, JWKSURI: idp.URL + "/keys", Use: trust.IDJAG,
			Create: true, AllowPrivate: []string{"127.0.0.0/8"}}}
	})
	keyed := site.App(t, storage.App{Domains: []string{"keyed.example.com"},
		Keys: &client.Keys{Set: []byte(vendordocs.KeySet(t))}})
	agent := site.App(t, storage.App{Domains: []string{"agent.example.com"}})
	assertion := vendordocs.Assertion(t, idp.URL, site.URL, func(head, claims map[string]any) {
		head["typ"] = "oauth-id-jag+jwt"
		claims["sub"], claims["client_id"], claims["resource"] = "ada@acme", agent.ID, site.URL+"/api/mcp"
		claims["scope"] = "tools"
	})
	cmd := exec.CommandContext(t.Context(), "node", "assertions.mjs")
	cmd.Dir = "node"
	cmd.Env = append(os.Environ(), "BUS="+site.URL+"/api/mcp", "ISSUER="+site.URL, "KEYED_ID="+keyed.ID,
		"PRIVATE_KEY="+vendordocs.PrivateKey(t), "AGENT_ID="+agent.ID, "AGENT_SECRET="+agent.AppKey().Reveal(),
		"ASSERTION="+assertion)
	out, err := cmd.CombinedOutput()
	if err != nil || strings.Count(string(out), "ok: ") != 12 {
		t.Errorf("%v: %d things are right\n%s", err, strings.Count(string(out), "ok: "), out)
	}
}
