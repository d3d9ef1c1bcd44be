package console_test

import (
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/keystile/keystile/gateway/console"
	"github.com/keystile/keystile/oauth/signin"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/authn"
)

// A user who has lost their factors gets rid of them by an administrator who has just signed in, and is told.
func TestAdministratorRemovesLostSecondFactors(t *testing.T) {
	h := newFixture(t)
	root, eve := h.testUser("root", storage.RoleAdmin), h.testUser("eve", "")
	lose := func() {
		f, err := h.store.Factors(t.Context(), eve.Sub)
		if err != nil {
			t.Fatal(err)
		}
		f.Authenticator, f.AppSecret = &authn.Authenticator{CreatedAt: time.Now()},
			storage.NewSecret("JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP")
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
	h.want(h.do("DELETE", path, h.signedIn(root.Sub, time.Now().Add(-11*time.Minute)), ""), 403, 4031,
		"who signed in long ago")
	h.want(h.do("DELETE", path, root.cookie, ""), 200, 1, "removing them")
	gone("API", 1)
	lose()
	if code := h.act("/console/users/"+eve.Sub+"/factors", root, url.Values{"do": {"reset"}}); code != 303 {
		t.Errorf("the button = %d", code)
	}
	gone("button", 2)
	if told := strings.Join(h.notices, "\n"); strings.Count(told,
		eve.Sub+": account \"\" by an administrator: second factors removed") != 2 {
		t.Errorf("the user was told %s", told)
	}
	trail := h.trail()
	if !strings.Contains(trail, "user factors reset "+eve.Sub+" by "+root.Sub+": second factors app of ") ||
		strings.Contains(trail, "JBSWY3") || !strings.Contains(trail, "-> none (epoch 2)") {
		t.Errorf("the trail holds %s", trail)
	}
}

// An administrator who signs in with a password alone is urged to set up a second factor, and nobody else.
func TestAdministratorWithOneFactorIsUrged(t *testing.T) {
	h := newFixture(t, func(c *console.Config) {
		in := c.Visitors.(*signin.SignIn)
		c.SignIn, c.Forms, c.FactorsPage = in, in, in.FactorsPage()
	})
	root, aud, mina := h.testUser("root", storage.RoleAdmin), h.testUser("aud", storage.RoleAuditor),
		h.testUser("mina", storage.RoleDeveloper)
	urged := func(cookie string) bool {
		t.Helper()
		return strings.Contains(h.want(h.do("GET", "/api/console/overview", cookie, ""), 200, 1, "the overview").text, `"kind":"factor"`)
	}
	for name, c := range map[string]struct {
		cookie string
		want   bool
	}{"an administrator": {root.cookie, true}, "an auditor": {aud.cookie, false}, "a developer": {mina.cookie, false}} {
		if urged(c.cookie) != c.want {
			t.Errorf("%s is urged: %v", name, !c.want)
		}
	}
	all, err := h.store.Sessions(t.Context(), root.Sub)
	if err != nil || len(all) != 1 {
		t.Fatal(all, err)
	}
	all[0].AMR = "pwd otp mfa"
	if _, err := h.store.SaveSession(t.Context(), all[0]); err != nil {
		t.Fatal(err)
	}
	if urged(root.cookie) {
		t.Error("who has proved two factors is urged")
	}
}
