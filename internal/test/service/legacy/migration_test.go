package legacy_test

import (
	"context"
	"testing"
	"time"

	"github.com/keystile/keystile/gateway"
	"github.com/keystile/keystile/legacy"
	"github.com/keystile/keystile/legacy/migration"
	"github.com/keystile/keystile/oauth"
)

// The report counts the events that the package writes to the gateway's own trail.
func TestMigrationReportHoldsWhatWasCalled(t *testing.T) {
	late := &slowAudit{}
	h := newFixture(t, func(c *legacy.Config) { c.Audit = late })
	trail := must(gateway.OpenTrail(t.Context(), gateway.TrailConfig{Store: h.store}))(t)
	late.Audit = trail
	from := time.Now().Add(-time.Minute)
	code := h.code()
	h.callback(code)
	h.callback(code) // refused, and proven all the same
	h.connect("login", "appkey", "wrong")
	h.connect("check_sso", "appkey", "-")
	h.call(request("GET", "/connect.php", h.signed(form("act", "query", "appid", "1000", "social_uid", "x"))))
	if err := trail.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	m := must(migration.Read(t.Context(), h.store, from, time.Now().Add(time.Minute)))(t)
	plain, signed, unproven := int64(0), int64(0), int64(0)
	for _, r := range m.Rows {
		if r.App != "1000" {
			t.Errorf("row %+v, want application 1000 only", r)
		}
		plain, signed, unproven = plain+r.PlainKey, signed+r.Signed, unproven+r.Unproven
	}
	if plain != 3 || signed != 1 || unproven != 1 {
		t.Errorf("plain, signed, unproven = %d, %d, %d, want 3, 1, 1", plain, signed, unproven)
	}
}

type slowAudit struct{ legacy.Audit }

var _ legacy.Verifier = (*oauth.Tokens)(nil)
var _ legacy.Audit = (*gateway.Trail)(nil)
