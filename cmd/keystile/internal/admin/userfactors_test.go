package admin

import (
	"strings"
	"testing"
	"time"

	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/authn"
)

func TestLostSecondFactorsAreShownAndRemoved(t *testing.T) {
	o := newOffice(t)
	ada := o.user("ada")
	_, err := o.target.Store.SaveFactors(t.Context(), storage.Factors{
		UserID: ada, Authenticator: &authn.Authenticator{CreatedAt: time.Now()},
		AppSecret: storage.NewSecret("JBSWY3DPEHPK3PXP"),
		Recovery:  []authn.RecoveryCode{{Hash: "x"}, {Hash: "y", UsedAt: time.Now()}}, WrongCodes: 21,
	})
	if err != nil {
		t.Fatal(err)
	}
	o.trail = nil
	if v := o.must("user", "factors", "ada"); v["authenticator"] != true || v["recovery_codes"] != 1.0 ||
		v["passkeys"] != 0.0 || v["wrong_codes"] != 21.0 || v["due_since"] != nil || len(o.trail) != 0 {
		t.Errorf("printed %v, on the trail is %v", v, o.trail)
	}
	if v := o.must("user", "factors", "ada", "--reset"); v["authenticator"] != false || v["recovery_codes"] != 0.0 ||
		v["reset"] != true {
		t.Errorf("printed %v", v)
	}
	f, err := o.target.Store.Factors(t.Context(), ada)
	if err != nil || f.Any() || f.Epoch != 1 || f.WrongCodes != 0 || !f.AppSecret.IsZero() {
		t.Errorf("there is %+v, %v", f, err)
	}
	if len(o.trail) != 1 || o.trail[0].User != ada || !strings.HasPrefix(o.trail[0].Detail,
		"user factors reset "+ada+" by command line, uid ") || strings.Contains(o.trail[0].Detail, "JBSWY3") {
		t.Errorf("on the trail is %v", o.trail)
	}
	o.wantFailure(1, `no user "eve"`, "user", "factors", "eve", "--reset")
}

func TestApplicationRequiresASecondFactor(t *testing.T) {
	o := newOffice(t)
	id := o.must("app", "create", "--name", "Shop", "--domain", "a.example", "--mfa", "required")["client_id"].(string)
	if v := o.must("app", "show", id); v["mfa"] != "required" {
		t.Errorf("mfa is %v", v["mfa"])
	}
	if v := o.must("app", "set", id, "--mfa", "off"); v["mfa"] != "off" {
		t.Errorf("mfa is %v", v["mfa"])
	}
	o.wantFailure(2, "neither off, offered nor required", "app", "set", id, "--mfa", "always")
}
