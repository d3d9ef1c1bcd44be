package admin

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/groups"
)

func (o *office) group(name string) {
	o.t.Helper()
	if _, err := o.target.Store.SaveGroup(o.t.Context(), groups.Group{Name: name}); err != nil {
		o.t.Fatal(err)
	}
}

func TestAppSetSaysWhoMayUseAnApplication(t *testing.T) {
	o := newOffice(t)
	id, _ := o.app()
	eve := o.user("eve")
	o.group("ops")
	for _, step := range []struct {
		typed       []string
		allow, deny string
	}{
		{[]string{"--allow", "group:ops", "--allow", "role:admin", "--deny", "user:eve"}, "[group:ops role:admin]",
			"[user:" + eve + "]"},
		{[]string{"--allow", "user:" + eve}, "[user:" + eve + "]", "[user:" + eve + "]"},
		{[]string{"--allow", "everyone"}, "[everyone]", "[user:" + eve + "]"},
		{[]string{"--deny="}, "[everyone]", "[]"},
		{[]string{"--deny", ""}, "[everyone]", "[]"},
	} {
		o.must(append([]string{"app", "set", id}, step.typed...)...)
		shown := o.must("app", "show", id)
		if allow, deny := fmt.Sprint(shown["allow"]), fmt.Sprint(shown["deny"]); allow != step.allow || deny != step.deny {
			t.Errorf("after %q: allow %s, deny %s", step.typed, allow, deny)
		}
	}
	before := o.stored(id)
	for want, flags := range map[string][]string{
		`there is no group "dev": make it first`: {"--allow", "group:dev"},
		`there is no user "bob"`:                 {"--deny", "user:bob"},
		"nobody is no choice":                    {"--allow="},
	} {
		code, _, said := o.run("", append([]string{"app", "set", id}, flags...)...)
		if code == 0 || !strings.Contains(said, want) {
			t.Errorf("%q: %d, %s", flags, code, said)
		}
	}
	if after := o.stored(id); after.Version != before.Version {
		t.Errorf("it was written: %+v", after)
	}
}

func TestAppSetSaysWhatAnApplicationLearns(t *testing.T) {
	o := newOffice(t)
	id, _ := o.app()
	const rules = `[{"claim":"department","from":"attribute:dept","scope":"profile","in":["id_token"]}]`
	file := filepath.Join(t.TempDir(), "claims.json")
	if err := os.WriteFile(file, []byte(rules+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, claims := range []string{rules, file, "-"} {
		o.must("app", "set", id, "--claims=")
		code, _, said := o.run(rules, "app", "set", id, "--group-filter", "team-*", "--group-filter", "ops",
			"--groups-in-access-token", "--claims", claims)
		if a := o.stored(id); code != 0 || len(a.Claims) != 1 || a.Claims[0].From != "attribute:dept" ||
			fmt.Sprint(a.GroupFilter) != "[team-* ops]" || !a.GroupsInAccessToken {
			t.Errorf("%s: %d %s, %+v", claims, code, said, a)
		}
	}
	o.must("app", "set", id, "--group-filter=", "--groups-in-access-token=false", "--claims=")
	if a := o.stored(id); len(a.Claims)+len(a.GroupFilter) > 0 || a.GroupsInAccessToken {
		t.Errorf("it is %+v", a)
	}
	for _, bad := range []string{"[", "[1]", "null", `[{"claim":"a","from":"field:name","to":"x"}]`, "nofile.json",
		`[{"claim":"sub","from":"field:name"}]`, `[]x`} {
		if code, _, said := o.run("", "app", "set", id, "--claims", bad); code == 0 || said == "" ||
			len(o.stored(id).Claims) > 0 {
			t.Errorf("%s: %d, %s", bad, code, said)
		}
	}
}

func TestAppSetAllowGoesForApplicationsThatRegisteredThemselves(t *testing.T) {
	o := newOffice(t)
	dynamic := o.agents()
	clients := o.rows("client", "list")
	if len(clients) < 2 {
		t.Fatalf("there are %v", clients)
	}
	for _, c := range clients {
		id := c["client_id"].(string)
		o.must("app", "set", id, "--allow", "role:admin")
		if a := o.stored(id); a.Admission == nil || a.Client == nil || !a.Client.ExpiresAt.IsZero() {
			t.Errorf("%s: %+v of %+v", id, a.Admission, a.Client)
		}
	}
	if ok, err := o.target.Store.Admits(t.Context(), o.stored(dynamic), storage.User{Sub: "u"}); ok || err != nil {
		t.Errorf("another user: %t, %v", ok, err)
	}
}
