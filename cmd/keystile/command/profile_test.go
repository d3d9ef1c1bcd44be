package command

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestUserChangesListedAttributesWhichClaimsAreMadeOf(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "keystile.yaml")
	fatal(t, os.WriteFile(file, []byte("profile: {attributes: [desk, pronouns]}\n"+
		"claims:\n  - {claim: seat, from: 'attribute:desk'}\n  - {claim: department, from: 'attribute:dept'}\n"), 0o600))
	s := start(t, t.TempDir(), "--config", file)
	who, c := firstRunOf(t, s.data).Admin, person(t)
	must(t, "user", "set", who.Username, "--data", s.data, "--attribute", "dept=Sales")
	token := redeem(t, s, authorize(t, s), 200).AccessToken
	userinfo := func() string {
		_, body := get(t, http.DefaultClient, s.base+"/oauth/userinfo", "Authorization", "Bearer "+token)
		return body
	}
	fill(t, c, s.base+"/oauth/signin", 303, "username", who.Username, "password", who.Password)
	for _, x := range []struct{ desk, want string }{
		{"4 window", `,"department":"Sales","seat":"4 window"}`}, {"5 north", `,"department":"Sales","seat":"5 north"}`},
		{"", `,"department":"Sales"}`},
	} {
		userinfo() // the claims are remembered
		fill(t, c, s.base+"/oauth/account/profile", 303, "attribute.desk", x.desk, "attribute.dept", "Board")
		if body := userinfo(); !strings.HasSuffix(body, x.want) {
			t.Errorf("with the desk %q userinfo is %s, want the end %s", x.desk, body, x.want)
		}
	}
	_, out, _ := command(t, "", "audit", "export", "--data", s.data)
	if !strings.Contains(out, "profile changed: attribute:desk") || strings.Contains(out, "north") {
		t.Errorf("the trail says %s", out)
	}
	code, _, errs := command(t, "", "serve", "--data", t.TempDir(), "--profile-attributes", "desk, Desk")
	if code != 2 || !strings.Contains(errs, `profile.attributes: "desk, Desk"`) || !strings.Contains(errs, "no name") {
		t.Errorf("a name that no attribute has: %d %s", code, errs)
	}
}
