package mcpbus_test

import (
	"strings"
	"testing"

	"github.com/keystile/keystile/mcpbus"
)

func TestAllThatIsWrongWithAConfigIsSaidAtOnce(t *testing.T) {
	b, err := mcpbus.New(t.Context(), mcpbus.Config{
		Issuer: "id.example.com/", Origins: []string{"https://app.example.com/"}, PageSize: 1001, MaxTools: -1, MaxOwnerTools: -1, PerCaller: -1, PerUpstream: -1, PerListener: -1,
		Refresh: 1, Discovery: -1, KeepAlive: 1,
	})
	if b != nil || err == nil {
		t.Fatalf("New() = %v, %v", b, err)
	}
	for _, name := range []string{"Issuer", "Origins", "Catalog", "Invoker", "Meter", "PageSize", "MaxTools", "MaxOwnerTools", "PerCaller", "PerUpstream", "PerListener", "Refresh", "Discovery", "KeepAlive"} {
		if !strings.Contains(err.Error(), name) {
			t.Errorf("%s is not complained of: %v", name, err)
		}
	}
	for _, issuer := range []string{"", "id.example.com", "ftp://id.example.com", "https://id.example.com/x", "https://", "https://id.example.com?x"} {
		h := emptyHouse(t)
		if _, err := mcpbus.New(t.Context(), mcpbus.Config{Issuer: issuer, Catalog: h.store, Invoker: h.calls, Meter: h.meter}); err == nil {
			t.Errorf("the issuer %q is taken", issuer)
		}
	}
	h := emptyHouse(t)
	h.open(func(c *mcpbus.Config) { c.PageSize, c.Issuer = 1000, "http://localhost:8080" })
}
