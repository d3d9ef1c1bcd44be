package command

import (
	"net/http"
	"strings"
	"testing"
)

// Calls that a killed server has left in its journal count when the application is removed on
// the command line, whether a server runs or not.
func TestRemovingAnApplicationOnTheCommandLineRenewsNoQuota(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	s := serveIn(t, data)
	must(t, "user", "create", "--data", data, "--username", "ada", "--password", "correct horse")
	make := func() (id, secret string) {
		app := must(t, "app", "create", "--data", data, "--name", "A", "--domain", "a.example", "--owner", "ada")
		return app["client_id"].(string), app["client_secret"].(string)
	}
	left := func(id, secret, want string) {
		t.Helper()
		bearer := "Bearer " + machineToken(t, s.service, id, secret)
		if _, body := get(t, http.DefaultClient, s.base+"/api/v1/quota", "Authorization", bearer); !strings.Contains(body, `"calls_remaining":`+want+",") {
			t.Errorf("the quota is %s, want %s left", body, want)
		}
	}
	call := func(id, secret string) {
		t.Helper()
		bearer := "Bearer " + machineToken(t, s.service, id, secret)
		if resp, body := get(t, http.DefaultClient, s.base+"/api/v1/verify?product=ai", "Authorization",
			bearer); resp.StatusCode >= 300 {
			t.Fatalf("a call = %d %s", resp.StatusCode, body)
		}
	}
	id, secret := make()
	call(id, secret)
	must(t, "app", "delete", id, "--data", data)
	id, secret = make()
	left(id, secret, "999")
	call(id, secret)
	s.child.Process.Kill()
	<-s.child.ended
	must(t, "app", "delete", id, "--data", data)
	id, secret = make()
	s = serveIn(t, data)
	left(id, secret, "998")
}
