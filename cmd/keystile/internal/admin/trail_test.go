package admin

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/keystile/keystile/cmd/keystile/internal/cli"
	"github.com/keystile/keystile/internal/admin"
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

// A command that does not say that it acts is refused by every act.
func TestCommandThatOnlyReadsIsRefusedByActs(t *testing.T) {
	o := newOffice(t)
	args := cli.Args{Flags: map[string][]string{"name": {"Shop"}, "domain": {"a.example"}}}
	c := command{name: "app create", do: createApp}
	operator := o.target.by(admin.CommandLine())
	if _, err := c.execute(t.Context(), operator, args); !errors.Is(err, admin.FactorFirst) {
		t.Errorf("a command that reads is answered %v", err)
	}
	if len(o.trail) > 0 || len(o.rows("app", "list")) > 0 {
		t.Errorf("it has left %v", o.trail)
	}
	c.acts = true
	if _, err := c.execute(t.Context(), operator, args); err != nil || len(o.trail) != 1 {
		t.Errorf("a command that acts is answered %v, and the trail has %v", err, o.trail)
	}
}

// ownTests are acts whose consequences have tests of their own: what they change is no record of one front alone.
var ownTests = []string{"audit prune", "audit reindex", "key rekey", "capability register", "capability update",
	"capability remove", "capability pins", "apply", importCommand}

// Every act of the table is compared through its fronts.
func TestCommandThatActsIsComparedWithOtherFronts(t *testing.T) {
	files, err := filepath.Glob("../../command/acts*_test.go")
	if err != nil || len(files) < 4 {
		t.Fatalf("the rows of acts are in %v, %v", files, err)
	}
	var rows []byte
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		rows = append(rows, text...)
	}
	for _, c := range table {
		compared := bytes.Contains(rows, []byte(`command: "`+c.name+" "))
		if own := slices.Contains(ownTests, c.name); c.acts && compared == own || !c.acts && compared {
			t.Errorf("%s: acts is %t, a row compares it: %t, it has a test of its own: %t", c.name, c.acts, compared, own)
		}
	}
}
