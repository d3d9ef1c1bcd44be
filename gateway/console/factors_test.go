package console_test

import (
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/authn"
)

// Whoever has lost their factors gets rid of them by an administrator who has signed in a short time ago, and is told.
func TestAnAdministratorRemovesLostSecondFactors(t *testing.T) {
	h := newFixture(t)
	root, eve := h.testUser("root", storage.RoleAdmin), h.testUser("eve", "")
	lose := func() {
		f, err := h.store.Factors(t.Context(), eve.Sub)
		if err != nil {
			t.Fatal(err)
		}
		f.Authenticator, f.AppSecret = &authn.Authenticator{CreatedAt: time.Now()}, storage.NewSecret("JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP")
		f.Recovery, f.DueSince = []authn.RecoveryCode{{Hash: "x"}}, time.Now()
		if _, err := h.store.SaveFactors(t.Context(), f); err != nil {
			t.Fatal(err)
		}
	}
	gone := func(way string, epoch int64) {
		t.Helper()
		f, err := h.store.Factors(t.Context(), eve.Sub)
		if err != nil || f.Any() || !f.AppSecret.IsZero() || len(f.Recovery) > 0 || !f.DueSince.IsZero() || f.Epoch != epoch {
			t.Errorf("by the %s there is %+v, %v", way, f, err)
		}
	}
	lose()
	path := "/api/console/users/" + eve.Sub + "/factors"
	h.want(h.do("GET", path, root.cookie, ""), 200, 1, "reading them")
	h.want(h.do("DELETE", path, h.signedIn(root.Sub, time.Now().Add(-11*time.Minute)), ""), 403, 4031, "who signed in long ago")
	h.want(h.do("DELETE", path, root.cookie, ""), 200, 1, "removing them")
	gone("API", 1)
	lose()
	if code := h.act("/console/users/"+eve.Sub+"/factors", root, url.Values{"do": {"reset"}}); code != 303 {
		t.Errorf("the button = %d", code)
	}
	gone("button", 2)
	if told := strings.Join(h.notices, "\n"); strings.Count(told, eve.Sub+": account \"\" Your second factors were removed by an administrator.") != 2 {
		t.Errorf("the user was told %s", told)
	}
	trail := h.trail()
	if !strings.Contains(trail, "user factors reset "+eve.Sub+" by "+root.Sub+": second factors app of ") || strings.Contains(trail, "JBSWY3") || !strings.Contains(trail, "-> none (epoch 2)") {
		t.Errorf("the trail holds %s", trail)
	}
}
