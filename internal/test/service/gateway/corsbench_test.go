package gateway_test

import (
	"net/http"
	"testing"

	"github.com/keystile/keystile/gateway"
)

// BenchmarkOpenPath is BenchmarkCheck on a path that every page may read, as those of proxied
// services are in the program, with and without Config.HSTS.
func BenchmarkOpenPath(b *testing.B) {
	service := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusOK) })
	for name, hsts := range map[string]bool{"http": false, "https": true} {
		b.Run(name, func(b *testing.B) {
			h := newFixture(b, busy, func(c *gateway.Config) {
				c.HSTS, c.CORS = hsts, gateway.CORS{AlsoOpen: []string{"/ai/"}}
			})
			measure(b, h.gateway.Front(h.gateway.Guard(gateway.ProductAI, service)), h.bearer(h.app))
		})
	}
}
