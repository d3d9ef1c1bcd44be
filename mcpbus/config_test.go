package mcpbus_test

import (
	"strings"
	"testing"

	"github.com/keystile/keystile/mcpbus"
)

func TestConfigErrorsAreReportedAllAtOnce(t *testing.T) {
	b, err := mcpbus.New(t.Context(), mcpbus.Config{
		BaseURL: "id.example.com/", Origins: []string{"https://app.example.com/"}, PageSize: 1001, MaxName: 39,
		MaxTools: -1, MaxOwnerTools: -1, PerCaller: -1, PerUpstream: -1, PerListener: -1,
		Refresh: 1, Discovery: -1, KeepAlive: 1,
	})
	if b != nil || err == nil {
		t.Fatalf("New() = %v, %v", b, err)
	}
	for _, name := range []string{"BaseURL", "Origins", "Store", "Invoker", "Meter", "PageSize", "MaxName", "MaxTools",
		"MaxOwnerTools", "PerCaller", "PerUpstream", "PerListener", "Refresh", "Discovery", "KeepAlive"} {
		if !strings.Contains(err.Error(), name) {
			t.Errorf("%s is not complained of: %v", name, err)
		}
	}
	for _, issuer := range []string{"", "id.example.com", "ftp://id.example.com", "https://id.example.com/x", "https://",
		"https://id.example.com?x"} {
		h := emptyFixture(t)
		if _, err := mcpbus.New(t.Context(), mcpbus.Config{BaseURL: issuer, Store: h.store, Invoker: h.calls,
			Meter: h.meter}); err == nil {
			t.Errorf("the issuer %q is taken", issuer)
		}
	}
	h := emptyFixture(t)
	h.open(func(c *mcpbus.Config) { c.PageSize, c.BaseURL = 1000, "http://localhost:8080" })
}

func TestSizeOfAnswersHasBounds(t *testing.T) {
	for n, ok := range map[int64]bool{0: true, mcpbus.MinAnswer: true, mcpbus.MaxAnswer: true, -1: false, 1: false,
		mcpbus.MinAnswer - 1: false, mcpbus.MaxAnswer + 1: false} {
		u, err := mcpbus.NewUpstreams(mcpbus.UpstreamsConfig{MaxAnswer: n})
		if (err == nil) != ok || err != nil && !strings.Contains(err.Error(), "MaxAnswer is 64 KiB to 16 MiB") {
			t.Errorf("%d bytes: %v, want it taken: %t", n, err, ok)
		}
		if u != nil {
			u.Close(t.Context())
		}
	}
}
