package mcpcall

import (
	"strings"
	"testing"

	"github.com/keystile/keystile/storage"
)

// With each message, the first and the one that ends a session too, and two capabilities that differ in them alone
// share no session.
func TestSecretHeadersGoWithEachMessage(t *testing.T) {
	for name, era := range map[string]Era{"legacy": Legacy, "modern": Modern} {
		t.Run(name, func(t *testing.T) {
			u := serve(t, &upstream{era: era, keeps: era == Legacy, call: func(m sent) string {
				return `{"content":[{"type":"text","text":"you sent ` + m.header.Get("X-Tenant-Key") + `"}]}`
			}})
			c := client(t, Config{})
			for _, value := range []string{"tenant-one", "tenant-two"} {
				to := u.at()
				to.Headers = map[string]storage.Secret{"x-tenant-key": storage.NewSecret(value)}
				r, err := c.Call(t.Context(), to, "x", nil)
				if err != nil || strings.Contains(texts(r), value) || !strings.Contains(texts(r), "[secret]") {
					t.Errorf("answered %q, %v", texts(r), err)
				}
				if _, err := c.Discover(t.Context(), to); err != nil {
					t.Error(err)
				}
			}
			settle(c)
			if era == Legacy && u.open() != 2 {
				t.Errorf("%d sessions, want 2", u.open())
			}
			u.mu.Lock()
			defer u.mu.Unlock()
			for _, m := range u.seen {
				if got := m.header.Get("X-Tenant-Key"); got != "tenant-one" && got != "tenant-two" {
					t.Errorf("%s %s is sent with %q", m.http, m.method, got)
				}
			}
			if len(u.seen) < 4 {
				t.Errorf("%d messages", len(u.seen))
			}
		})
	}
}
