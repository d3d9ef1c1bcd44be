package gateway_test

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"

	"github.com/keystile/keystile/gateway"
)

// A call costs net/http's copy of the request, and one piece of memory for all that is known of it: its id,
// whom it comes from, its rate, its charge and its line on the trail. Time stands still, so that nothing
// is stored meanwhile.
func TestCheckedCallIsTwoAllocations(t *testing.T) {
	service := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusOK) })
	for name, open := range map[string]string{"a path that no page may read": "/svc/", "an open path": "/ai/"} {
		synctest.Test(t, func(t *testing.T) {
			h := newFixture(t, busy, func(c *gateway.Config) { c.HSTS, c.CORS.AlsoOpen = true, []string{open} })
			handler := h.gateway.Front(h.gateway.Guard(gateway.ProductAI, service))
			r := httptest.NewRequest("GET", "/ai/x", nil)
			r.Header.Set("Authorization", "Bearer "+h.bearer(h.app))
			w := &null{http.Header{}}
			if n := testing.AllocsPerRun(1_000, func() {
				delete(r.Header, "X-Request-Id")
				handler.ServeHTTP(w, r)
			}); n > 2 {
				t.Errorf("%s: %v allocations, want 2", name, n)
			}
			if w.header.Get("X-Request-Id") == "" || h.used(h.bearer(h.app), gateway.ProductAI) != 1_001 {
				t.Errorf("%s: not every call was charged, or none has an id", name)
			}
		})
	}
}
