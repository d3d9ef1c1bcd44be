package admin

import (
	"errors"
	"strings"
	"testing"

	"github.com/keystile/keystile/storage/event"
)

// Decision 32.
func TestCommandChangesAreOnTheAuditTrail(t *testing.T) {
	o := newOffice(t)
	user := o.must("user", "create", "--username", "ada", "--password", "correct horse battery")
	app := o.must("app", "create", "--name", "Shop", "--domain", "a.example")
	id, sub := app["client_id"].(string), user["sub"].(string)
	o.must("app", "set", id, "--tier", "white_label")
	rotated := o.must("app", "rotate-secret", id)
	o.must("setting", "set", "service_config.oauth_force_pkce", "1")
	o.must("session", "end", "ada")
	o.must("user", "disable", "ada")
	for _, reading := range [][]string{{"app", "list"}, {"app", "show", id}, {"user", "list"}, {"setting", "list"},
		{"session", "list", "ada"}, {"setting", "get", "service_config.oauth_force_pkce"}} {
		if code, _, said := o.run("", reading...); code != 0 {
			t.Errorf("%q = %d, %s", reading, code, said)
		}
	}
	want := []string{
		"user create " + sub, "app create " + id + " by command line, ", "tier set " + id + " by command line, ",
		"app rotate-secret " + id + " by command line, ",
		"setting set service_config.oauth_force_pkce by command line, ", "user sign out " + sub + " by command line, uid ",
		"user set " + sub + " by command line, uid ",
	}
	if len(o.trail) != len(want) {
		t.Fatalf("%d events, want %d: %v", len(o.trail), len(want), o.trail)
	}
	for i, e := range o.trail {
		if e.Kind != event.Admin || !strings.HasPrefix(e.Detail, want[i]) {
			t.Errorf("event %d is %s %q, want %q", i, e.Kind, e.Detail, want[i])
		}
		for _, secret := range []string{"correct horse", app["client_secret"].(string), rotated["client_secret"].(string)} {
			if strings.Contains(e.Detail, secret) {
				t.Errorf("event %d holds a secret", i)
			}
		}
	}
	if want := strings.Join([]string{sub, id, id, sub}, " "); strings.Join(o.forgotten, " ") != want {
		t.Errorf("the running server forgot %q, want %s: whatever was changed, each time", o.forgotten, want)
	}
}

func TestActThatIsNotWrittenDownSaysSo(t *testing.T) {
	o := newOffice(t)
	o.unwritten = errors.New("the store is away")
	code, _, said := o.run("", "app", "create", "--name", "Shop", "--domain", "a.example")
	if code != 1 || !strings.Contains(said, "it is done, but the audit trail could not be written: the store is away") {
		t.Errorf("exit %d, %q", code, said)
	}
}
