package command

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The key claims has no flag, since commands have one of that name for the rules of an application.
func TestConfiguredClaimsAreInUserInfo(t *testing.T) {
	file := filepath.Join(t.TempDir(), "keystile.yaml")
	fatal(t, os.WriteFile(file, []byte("claims:\n  - {claim: seats, from: 'value:3'}\n"+
		"  - {claim: login, from: 'field:username', in: [userinfo]}\n"), 0o600))
	s := start(t, t.TempDir(), "--config", file)
	g := redeem(t, s, authorize(t, s), 200)
	_, body := get(t, http.DefaultClient, s.base+"/oauth/userinfo", "Authorization", "Bearer "+g.AccessToken)
	if !strings.HasSuffix(body, `,"login":"admin","seats":3}`) {
		t.Errorf("userinfo is %s", body)
	}
}
