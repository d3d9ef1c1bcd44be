package admin

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/event"
)

const staff = `kind: group
name: ops
label: Operations
managers: [ada]
---
# The shop of the company.
kind: application
name: Shop
domains: [shop.example.com, shop.example.org]
owner: ada
allow: [group:ops, "user:ada"]
group_filter: ["ops*"]
---
kind: tier
name: Shop
tier: white_label
---
kind: capability
name: zoo
upstream_url: https://pets.example.com
label: Pets
auth_type: bearer
auth_secret: {env: KEYSTILE_TEST_PETS}
openapi: {file: pets.doc}
---
kind: bundle
name: support
tools: [zoo__getPet]
rules: [{subject: group:ops}]
---
kind: access
name: zoo
rules:
  - {subject: group:ops}
  - {subject: "user:ada", deny: true, tools: [getPet]}
`

const petsDocument = `{"openapi":"3.0.0","info":{"title":"Pets","version":"1"},"paths":{"/pets/{id}":{"get":{
"operationId":"getPet","parameters":[{"name":"id","in":"path","required":true,"schema":{"type":"string"}}],
"responses":{"200":{"description":"A pet."}}}}}}`

// folder is a folder with files.
func (o *office) folderWith(files map[string]string) string {
	o.t.Helper()
	dir := o.t.TempDir()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			o.t.Fatal(err)
		}
	}
	return dir
}

// actions counts what an answer of apply --json says was done.
func (o *office) actions(out string) (n map[string]int) {
	o.t.Helper()
	var r struct {
		Steps []struct{ Action string }
	}
	if err := json.Unmarshal([]byte(out), &r); err != nil {
		o.t.Fatalf("%q: %v", out, err)
	}
	n = map[string]int{}
	for _, s := range r.Steps {
		n[s.Action]++
	}
	return n
}

func (o *office) apply(args ...string) map[string]int {
	o.t.Helper()
	code, out, errs := o.run("", append([]string{"apply", "--json"}, args...)...)
	if code != 0 {
		o.t.Fatalf("apply %q: %d %s %s", args, code, out, errs)
	}
	return o.actions(out)
}

func TestSecondApplyChangesNothing(t *testing.T) {
	t.Setenv("KEYSTILE_TEST_PETS", "token-of-pets")
	o := shop(t)
	dir := o.folderWith(map[string]string{"staff.yaml": staff, "pets.doc": petsDocument, "notes.txt": "no document"})
	secrets := filepath.Join(t.TempDir(), "secrets.json")
	if n := o.apply("-f", dir, "--dry-run"); n["create"] != 6 {
		t.Errorf("a dry run would do %v", n)
	}
	if apps := o.rows("app", "list"); len(apps) != 0 {
		t.Errorf("a dry run has made %v", apps)
	}
	code, _, errs := o.run("", "apply", "-f", dir)
	if code == 0 || !strings.Contains(errs, "--secrets") {
		t.Errorf("a secret that nobody would see: %d %s", code, errs)
	}
	if n := o.apply("-f", dir, "--secrets", secrets); n["create"] != 6 {
		t.Errorf("the first run has done %v", n)
	}
	var drawn map[string]map[string]string
	info, err := os.Stat(secrets)
	if text, e := os.ReadFile(secrets); err != nil || e != nil || json.Unmarshal(text, &drawn) != nil ||
		info.Mode().Perm() != 0o600 || len(drawn["application Shop"]["client_secret"]) < 32 {
		t.Fatalf("the secrets are %v, %v", drawn, err)
	}
	id := drawn["application Shop"]["client_id"]
	app := o.must("app", "show", id)
	if app["tier"] != "white_label" || len(app["domains"].([]any)) != 2 {
		t.Errorf("the application is %v", app)
	}
	for range 2 {
		if n := o.apply("-f", dir, "--secrets", secrets); n["none"] != 6 || len(n) != 1 {
			t.Errorf("a second run has done %v", n)
		}
	}
	// The documents that are exported say what there is.
	code, exported, errs := o.run("", "export")
	if code != 0 || strings.Contains(exported, "token-of-pets") || !strings.Contains(exported, "label: Operations") {
		t.Fatalf("exported %d %s %s", code, exported, errs)
	}
	file := filepath.Join(o.folderWith(map[string]string{"all.yaml": exported}), "all.yaml")
	if n := o.apply("-f", file); n["none"] != 7 || len(n) != 1 { // one was there before
		t.Errorf("what was exported changes %v: %s", n, exported)
	}
	// One thing changes, one goes.
	less := strings.Replace(staff, "Operations", "Operators", 1)
	less = less[:strings.Index(less, "---\nkind: bundle")]
	if err := os.WriteFile(filepath.Join(dir, "staff.yaml"), []byte(less), 0o600); err != nil {
		t.Fatal(err)
	}
	if n := o.apply("-f", dir); n["change"] != 1 || n["remove"] != 0 {
		t.Errorf("without --prune: %v", n)
	}
	if n := o.apply("-f", dir, "--prune"); n["remove"] != 2 || n["none"] != 4 {
		t.Errorf("with --prune: %v", n)
	}
	if n := o.apply("-f", dir, "--prune"); n["none"] != 4 || len(n) != 1 {
		t.Errorf("again with --prune: %v", n)
	}
	o.wantFailure(1, "no bundle", "capability", "bundle", "show", "support")
}

func TestPruneRemovesOnlyWhatApplyHasMade(t *testing.T) {
	o := shop(t)
	o.must("group", "create", "own")
	o.must("group", "create", "adopted")
	one := o.folderWith(map[string]string{
		"a.yaml": "kind: group\nname: made\n---\nkind: group\nname: adopted\nlabel: A\n",
	})
	if n := o.apply("-f", one); n["create"] != 1 || n["change"] != 1 {
		t.Errorf("%v", n)
	}
	other := o.folderWith(map[string]string{"b.json": `[{"kind":"group","name":"other"}]`})
	if n := o.apply("-f", other, "--prune"); n["create"] != 1 || n["remove"] != 1 {
		t.Errorf("%v", n)
	}
	for name, there := range map[string]bool{"own": true, "adopted": true, "made": false, "other": true} {
		if _, err := o.target.Store.Group(t.Context(), name); (err == nil) != there {
			t.Errorf("the group %s: %v, want there %t", name, err, there)
		}
	}
}

func TestWrongDocumentChangesNothing(t *testing.T) {
	o := shop(t)
	o.target.Connectors = []string{"staff"}
	for text, want := range map[string]string{
		"kind: group\nname: Ops\n":                                 "the name of a group",
		"kind: group\nname: ops\nlable: x\n":                       "there is no field lable",
		"kind: group\nname: ops\nlabel: [x]\n":                     "label must be a text",
		"kind: group\nname: ops\nlabel: null\n":                    "label has no value",
		"kind: group\nname: ops\nmanagers: [nobody]\n":             `there is no user "nobody"`,
		"kind: team\nname: ops\n":                                  "kind is one of group, connector, application",
		"kind: group\n":                                            "name is a text",
		"- 7\n":                                                    "a document is an object",
		"kind: tier\nname: None\ntier: gold\n":                     "tier is one of free",
		"kind: application\nname: X\ndomains: ['a b']\n":           "domains",
		"kind: application\nname: X\nclient_id: none\n":            `no application "none"`,
		"kind: access\nname: pets\n":                               "rules are missing",
		"kind: bundle\nname: b\nrules: [{subject: nobody}]\n":      "subject",
		"kind: capability\nname: a\nauth_secret: {env: NONE_HERE}": "the environment has no NONE_HERE",
		"kind: capability\nname: a\nauth_secret: {file: none.txt}": "none.txt",
		"kind: group\nname: x\n---\nkind: group\nname: x\n":        "keep one",
		"kind: [\n": "document 2",
		"kind: connector\nname: other\ngroups_claim: g\ngroups_map: {a: b}\n":       "(it has staff)",
		"kind: connector\nname: staff\n":                                            "give groups_claim",
		"kind: connector\nname: staff\ngroups_claim: g\n":                           "give both groups_claim",
		"kind: connector\nname: staff\ngroups_map: {a: b}\n":                        "give both groups_claim",
		"kind: connector\nname: staff\ngroups_claim: g\ngroups_map: {a: B}\n":       "the name of a group",
		"kind: connector\nname: staff\ngroups_claim: g\ngroups_map: {a: [b]}\n":     "groups_map",
		"kind: connector\nname: staff\ngroups_claim: [g]\ngroups_map: {a: b}\n":     "groups_claim must be a text",
		"kind: connector\nname: staff\ngroups_claim: g\ngroups_map: {}\nscope: x\n": "there is no field scope",
	} {
		file := filepath.Join(o.folderWith(map[string]string{"a.yaml": "kind: group\nname: first\n---\n" + text}), "a.yaml")
		code, out, errs := o.run("", "apply", "-f", file)
		if code == 0 || !strings.Contains(errs, want) {
			t.Errorf("%q: %d %s %s, want %q", text, code, out, errs, want)
		}
	}
	if all, _, err := o.target.Store.GroupMappings(t.Context(), "", 10); err != nil || len(all) != 0 {
		t.Errorf("a wrong mapping is stored: %v, %v", all, err)
	}
	if rows := o.rows("group", "list"); len(rows) != 0 {
		t.Errorf("a wrong document beside it has not kept a right one from being applied: %v", rows)
	}
}

// A run that fails half-way tells what it has drawn, and goes on later.
func TestRunThatFailsHalfwayKeepsItsSecretsAndGoesOn(t *testing.T) {
	o := shop(t)
	secrets := filepath.Join(t.TempDir(), "s.json")
	text := "kind: application\nname: Shop\ndomains: [shop.example.com]\n---\n" +
		"kind: access\nname: none\nrules: [{subject: everyone}]\n"
	file := filepath.Join(o.folderWith(map[string]string{"a.yaml": text}), "a.yaml")
	code, out, errs := o.run("", "apply", "-f", file, "--secrets", secrets)
	if code != 1 || !strings.Contains(errs, "1 of 2 steps") || !strings.Contains(out, "create application Shop") {
		t.Errorf("%d %s %s", code, out, errs)
	}
	if kept, err := os.ReadFile(secrets); err != nil || !strings.Contains(string(kept), "client_secret") {
		t.Errorf("the secret is lost: %s %v", kept, err)
	}
	o.run("", "apply", "-f", file, "--secrets", secrets)
	if apps := o.rows("app", "list"); len(apps) != 1 {
		t.Errorf("a second run has made another one: %v", apps)
	}
}

func TestOnlyOneApplies(t *testing.T) {
	o := shop(t)
	if err := o.target.Store.HoldApply(t.Context(), "somebody"); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(o.folderWith(map[string]string{"a.yaml": "kind: group\nname: ops\n"}), "a.yaml")
	o.wantFailure(1, "applied by somebody else", "apply", "-f", file)
	if err := o.target.Store.ReleaseApply(t.Context(), "somebody"); err != nil {
		t.Fatal(err)
	}
	o.apply("-f", file)
}

// A group that was made anew under a name is another one: what names it is written again.
func TestRulesOfAGroupThatWasMadeAnewAreAppliedAgain(t *testing.T) {
	o := shop(t)
	text := "kind: group\nname: ops\n---\nkind: access\nname: pets\nrules: [{subject: group:ops}]\n---\n" +
		"kind: application\nname: Phone\npublic: true\ndomains: [phone.example.com]\nallow: [group:ops]\n"
	dir := o.folderWith(map[string]string{"a.yaml": text})
	if n := o.apply("-f", dir); n["create"] != 3 {
		t.Fatalf("%v", n)
	}
	o.must("group", "delete", "ops")
	if n := o.apply("-f", dir); n["create"] != 1 || n["change"] != 2 {
		t.Errorf("with the group gone: %v", n)
	}
	o.must("group", "delete", "ops")
	o.must("group", "create", "ops")
	if n := o.apply("-f", dir); n["change"] != 2 || n["none"] != 1 {
		t.Errorf("with another group: %v", n)
	}
	if n := o.apply("-f", dir); n["none"] != 3 {
		t.Errorf("and again: %v", n)
	}
}

// The mapping of a connector is kept while its provider is out of the configuration, and may be removed then too.
func TestMappingOfAConnectorIsAppliedExportedAndPruned(t *testing.T) {
	o := shop(t)
	o.target.Connectors = []string{"staff"}
	text := "kind: connector\nname: staff\ngroups_claim: groups\ngroups_map: {/ops: ops, /ops/lead: ops}\n"
	dir := o.folderWith(map[string]string{"a.yaml": text, "b.yaml": "kind: group\nname: dev\n"})
	o.trail = nil
	if n := o.apply("-f", dir); n["create"] != 2 {
		t.Errorf("%v", n)
	}
	if n := o.apply("-f", dir); n["none"] != 2 || len(n) != 1 {
		t.Errorf("again: %v", n)
	}
	noted := func(what string) bool {
		return slices.ContainsFunc(o.trail, func(e event.Event) bool {
			return strings.HasPrefix(e.Detail, what+" staff by ")
		})
	}
	if !noted("connector set") {
		t.Errorf("on the trail is %v", o.trail)
	}
	_, exported, _ := o.run("", "export")
	if !strings.Contains(exported, "kind: connector") || !strings.Contains(exported, "/ops/lead: ops") {
		t.Errorf("exported: %s", exported)
	}
	o.target.Connectors = nil
	if _, exported, _ = o.run("", "export"); strings.Contains(exported, "kind: connector") {
		t.Errorf("a document that apply would refuse is exported: %s", exported)
	}
	o.wantFailure(2, "it has none", "apply", "-f", filepath.Join(dir, "a.yaml"))
	if n := o.apply("-f", filepath.Join(dir, "b.yaml"), "--prune"); n["remove"] != 1 || n["none"] != 1 {
		t.Errorf("pruned: %v", n)
	}
	if _, err := o.target.Store.GroupMapping(t.Context(), "staff"); !errors.Is(err, storage.ErrNotFound) ||
		!noted("connector remove") {
		t.Errorf("it is still there: %v", err)
	}
}

// A server that is just starting is waited for, and its store is not opened beside it.
func TestApplyWaitsForTheServer(t *testing.T) {
	o := shop(t)
	o.data = filepath.Join(t.TempDir(), "later") // the server makes it
	o.opened = 0
	file := filepath.Join(o.folderWith(map[string]string{"a.yaml": "kind: group\nname: ops\n"}), "a.yaml")
	o.wantFailure(2, "no duration", "apply", "-f", file, "--wait", "soon")
	o.wantFailure(1, "no server has answered", "apply", "-f", file, "--wait", "1ns")
	done := make(chan string)
	go func() {
		code, out, errs := o.run("", "apply", "-f", file, "--wait", "1m")
		done <- fmt.Sprint(code, out, errs)
	}()
	o.serve()
	if said := <-done; !strings.HasPrefix(said, "0create group ops") {
		t.Errorf("apply answers %s", said)
	}
	if o.opened > 0 {
		t.Error("the store was opened beside the server")
	}
}
