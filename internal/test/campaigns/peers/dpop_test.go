package peers

import (
	"strings"
	"testing"

	"github.com/keystile/keystile/internal/test/campaigns/agents"
)

func TestStockClientProvesItsKeyAtEveryEndpoint(t *testing.T) {
	clientsAreInstalled(t, "oauth4webapi")
	for _, alg := range []string{"ES256", "EdDSA", "RS256", "PS256"} {
		t.Run(alg, func(t *testing.T) {
			site := agents.Start(t)
			said := drive(t, agents.NewPerson(site.URL), "dpop.mjs", "ISSUER="+site.URL, "BUS="+site.URL+"/api/mcp", "ALG="+alg)
			if n := strings.Count(said, "ok: "); n < 12 {
				t.Errorf("%d things are right", n)
			}
		})
	}
}
