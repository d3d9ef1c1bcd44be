package admin

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/keystile/keystile/internal/admin"
	"github.com/keystile/keystile/registry"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/event"
	"github.com/keystile/keystile/storage/toolplan"
)

// workshop is an office with a registrar, and two people.
func workshop(t *testing.T, resolve bool) *office {
	t.Helper()
	o := newOffice(t)
	r, err := registry.New(t.Context(), registry.Config{BaseURL: "http://localhost", Store: o.target.Store,
		Visitors: nobody{}, NoDelivery: true, ResolveRefs: resolve, Audit: o})
	if err != nil {
		t.Fatal(err)
	}
	o.target.Registry = r
	o.must("user", "create", "--username", "root", "--password", "correct horse", "--role", "admin")
	o.user("ada")
	return o
}

type nobody struct{}

func (nobody) Visitor(*http.Request) (storage.Session, error) {
	return storage.Session{}, storage.ErrNotFound
}

func (nobody) Proved(context.Context, storage.Session) (bool, error) { return true, nil }

// sub returns the sub of the user with a username.
func (o *office) sub(name string) string {
	o.t.Helper()
	u, err := userOf(o.t.Context(), o.target.Store, name)
	if err != nil {
		o.t.Fatal(err)
	}
	return u.Sub
}

const pets = `{"openapi":"3.0.3","paths":{"/pets/{id}":{"get":{"operationId":"getPet","parameters":[{"name":"id","in":"path","schema":{"type":"string"}},{"name":"full","in":"query","schema":{"type":"boolean"}},null]}},"/pets":{"post":{}}}}`

// file writes a file and returns its path.
func file(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "document.json")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestCapabilityIsRegisteredShownListedAndRemoved(t *testing.T) {
	for _, running := range []bool{false, true} {
		o := workshop(t, false)
		if running {
			o.serve()
			o.held = errLocked
		}
		v := o.must("capability", "register", "pets", "--upstream", "https://pets.example.com", "--openapi", file(t, pets),
			"--label", "Pets")
		if v["member"] != "pets" || v["kind"] != "rest" || v["tool_count"] != 2.0 || v["owner"] != o.sub("root") ||
			len(v["tools_static"].([]any)) != 2 || len(v["skipped"].([]any)) != 1 {
			t.Errorf("running %t: registered is %v", running, v)
		}
		v = o.must("capability", "show", "pets")
		first := v["tools_static"].([]any)[1].(map[string]any)
		if first["name"] != "getPet" || first["path"] != "/pets/:id" || first["call"] != nil || v["label"] != "Pets" ||
			v["publish"] != true {
			t.Errorf("running %t: shown is %v", running, v)
		}
		rows := o.rows("capability", "list")
		if len(rows) != 1 || rows[0]["member"] != "pets" || rows[0]["tool_count"] != 2.0 {
			t.Errorf("running %t: listed is %v", running, rows)
		}
		if v := o.must("capability", "remove", "pets"); v["removed"] != "pets" || len(o.rows("capability", "list")) != 0 {
			t.Errorf("running %t: removed is %v", running, v)
		}
		o.wantFailure(1, "no such capability: see the list for the names there are\n", "capability", "show", "pets")
		o.wantFailure(1, "no such capability: see the list for the names there are\n", "capability", "remove", "pets")
		var details []string
		for _, e := range o.trail {
			details = append(details, e.Detail)
		}
		by := admin.CommandLine().Name()
		if len(details) != 4 || !strings.HasPrefix(details[2], "capability register pets by "+by+`: label "" -> "Pets"; kind "" -> "rest"; `) ||
			!strings.HasPrefix(details[3], "capability remove pets by "+by+": ") || o.trail[2].Kind != event.Registration ||
			o.trail[2].User == "" || o.trail[3].User != o.trail[2].User {
			t.Errorf("running %t: the trail is %q", running, details)
		}
	}
}

func TestPeopleReadATableOfToolsAndOfWhatWasLeftOut(t *testing.T) {
	o := workshop(t, false)
	code, out, errs := o.run("", "capability", "register", "pets", "--upstream", "http://10.0.0.1", "--openapi",
		file(t, pets))
	want := "member      pets\n" +
		"kind        rest\n" +
		"owner       " + o.sub("root") + "\n" +
		"tool_count  2\n" +
		"warning     upstream_url is a private address: calls are refused until the operator allows it " +
		"(upstreams.allow_private)\n" +
		"\n" +
		"TOOL       METHOD  PATH       ARGUMENTS (? may be left out)\n" +
		"post_pets  POST    /pets\n" +
		"getPet     GET     /pets/:id  id, full?\n" +
		"\n" +
		"LEFT OUT                               BECAUSE\n" +
		"/paths/~1pets~1{id}/get/parameters/2  not a parameter\n"
	if code != 0 || squeezed(out) != squeezed(want) || errs != "" {
		t.Errorf("register = %d %s\n%s\nwant\n%s", code, errs, out, want)
	}
}

// squeezed is a text whose columns may have any width.
func squeezed(text string) string {
	var out []string
	for line := range strings.Lines(text) {
		out = append(out, strings.Join(strings.Fields(line), " "))
	}
	return strings.Join(out, "\n")
}

func TestToolWithManyArgumentsKeepsItsLine(t *testing.T) {
	var properties []string
	for i := range 12 {
		properties = append(properties, fmt.Sprintf(`"p%02d":{}`, i))
	}
	o := workshop(t, false)
	tools := `[{"name":"much","inputSchema":{"type":"object","properties":{` + strings.Join(properties, ",") + `},"required":["p11"]}}]`
	_, out, _ := o.run(tools, "capability", "preview", "--tools", "-")
	if !strings.Contains(out, "p11, p00?, p01?, p02?, p03?, p04?, p05?, p06?, and 4 more\n") {
		t.Errorf("preview = %s", out)
	}
}

func TestPreviewStoresNothingAndGivesAdvice(t *testing.T) {
	o := workshop(t, false)
	code, out, errs := o.run(pets, "capability", "preview", "--openapi", "-", "--lint")
	if code != 0 || !strings.Contains(out, "getPet") || !strings.Contains(out, "ADVICE") || errs != "" {
		t.Errorf("preview = %d %s %s", code, out, errs)
	}
	v := o.must("capability", "preview", "--openapi", file(t, pets), "--lint")
	if len(v["lint"].([]any)) == 0 || len(v["tools_static"].([]any)) != 2 {
		t.Errorf("preview = %v", v)
	}
	if advice, there := o.must("capability", "preview", "--openapi", file(t, pets))["lint"]; there {
		t.Errorf("nobody asked for the advice %v", advice)
	}
	if rows := o.rows("capability", "list"); len(rows) != 0 || len(o.trail) != 2 {
		t.Errorf("stored is %v, noted %v", rows, o.trail)
	}
	long := strings.Replace(pets, "getPet", strings.Repeat("x", 80), 1)
	v = o.must("capability", "preview", "--openapi", file(t, long), "--member", strings.Repeat("m", 48))
	if name := v["tools_static"].([]any)[1].(map[string]any)["name"].(string); len(name) != 14 {
		t.Errorf("a tool of a long capability is named %q", name)
	}
}

func TestCredentialIsReadFromTheStandardInputAndShownNowhere(t *testing.T) {
	o := workshop(t, false)
	o.serve()
	words := []string{"capability", "register", "pets", "--upstream", "https://pets.example.com", "--openapi",
		file(t, pets), "--auth-type", "api_key", "--auth-in", "header", "--auth-name", "X-Key", "--auth-secret", "-"}
	code, out, errs := o.run("sesame-0123456789\n", words...)
	if code != 0 {
		t.Fatalf("register = %d %s", code, errs)
	}
	_, shown, _ := o.run("", "capability", "show", "pets", "--json")
	c, err := o.target.Store.Capability(t.Context(), "pets")
	if err != nil || c.AuthSecret.Reveal() != "sesame-0123456789" || c.AuthName != "X-Key" || c.AuthIn != "header" {
		t.Errorf("stored is %v %v", c, err)
	}
	if all := out + errs + shown + o.log.String() + fmt.Sprint(o.trail); strings.Contains(all, "sesame") {
		t.Errorf("the secret is in %s", all)
	}
	o.wantFailure(2, "there is none", words...)
	o.wantFailure(2, "both read the standard input", slices.Concat(words[:5],
		[]string{"--openapi", "-", "--auth-secret", "-"})...)
}

func TestRegisterRefusalsAreExplained(t *testing.T) {
	o := workshop(t, false)
	register := func(more ...string) []string {
		return slices.Concat([]string{"capability", "register", "pets", "--upstream", "https://pets.example.com"}, more)
	}
	var broken strings.Builder
	for i := range 12 {
		fmt.Fprintf(&broken, `"/p%02d":null,`, i)
	}
	empty := `{"openapi":"3.0.3","paths":{` + broken.String() + `"x-a":0}}`
	o.wantFailure(1, "(errcode 4001)\n  left out: /paths/~1p00: not a path item\n",
		register("--openapi", file(t, empty))...)
	o.wantFailure(1, "  and 2 more", register("--openapi", file(t, empty))...)
	o.wantFailure(1, "as YAML it is wrong (line 2, column 1: the key \"openapi\" stands in line 1 already: keep one)",
		register("--openapi", file(t, "openapi: 3.0.3\nopenapi: 3.1.0\n"))...)
	o.wantFailure(1, "(errcode 4006)", register("--auth-type", "digest")...)
	o.wantFailure(1, "(errcode 4005)", "capability", "register", "pets", "--upstream", "ftp://pets.example.com")
	o.wantFailure(1, "(errcode 4004)", "capability", "register", "a__b", "--upstream", "https://pets.example.com")
	o.wantFailure(1, "no such file", register("--openapi", "/nowhere/at/all")...)
	o.wantFailure(2, "is empty", register("--openapi", file(t, ""))...)
	o.wantFailure(2, "give one of them", register("--openapi", file(t, pets), "--tools", file(t, "[]"))...)
	o.wantFailure(2, "there is nothing to show", "capability", "preview")
	o.wantFailure(2, "--upstream URL is missing", "capability", "register", "pets")
	o.wantFailure(1, "there is no user", register("--owner", "nobody")...)
	if rows := o.rows("capability", "list"); len(rows) != 0 {
		t.Errorf("stored is %v", rows)
	}
}

func TestRegisterGivesACapabilityToItsOwner(t *testing.T) {
	o := workshop(t, false)
	for _, c := range []struct {
		owner, want string
		passed      bool
	}{{"ada", "ada", false}, {"", "ada", false}, {"root", "root", true}} {
		words := []string{"capability", "register", "pets", "--upstream", "https://pets.example.com", "--private"}
		if c.owner != "" {
			words = append(words, "--owner", c.owner)
		}
		v := o.must(words...)
		if v["owner"] != o.sub(c.want) || v["kind"] != "mcp" {
			t.Errorf("--owner %q: it is %v's, want %s's", c.owner, v["owner"], c.want)
		}
		if strings.Contains(fmt.Sprint(v["warning"]), "another owner") != c.passed {
			t.Errorf("--owner %q: the warning is %v", c.owner, v["warning"])
		}
	}
	if v := o.must("capability", "show", "pets"); v["publish"] != false {
		t.Errorf("a private capability is shown as %v", v)
	}
}

// A registration of the whole leaves it to the group that has it, and an update changes the owner alone.
func TestCapabilityIsGivenToAGroup(t *testing.T) {
	o := workshop(t, false)
	register := []string{"capability", "register", "pets", "--upstream", "https://pets.example.com", "--private"}
	o.wantFailure(1, `no group "ops"`, append(register, "--owner", "group:ops")...)
	o.must("group", "create", "ops")
	for _, words := range [][]string{append(register, "--owner", "group:ops"), register} {
		if v := o.must(words...); v["owner"] != "group:ops" {
			t.Errorf("%q: it is %v's", words, v["owner"])
		}
	}
	for _, c := range []struct{ owner, want string }{{"ada", o.sub("ada")}, {"group:ops", "group:ops"}, {"", ""}} {
		if v := o.must("capability", "update", "pets", "--owner="+c.owner); cmp.Or(v["owner"], any("")) != c.want {
			t.Errorf("--owner %q: it is %v's", c.owner, v["owner"])
		}
	}
	o.wantFailure(1, `no group "dev"`, "capability", "update", "pets", "--owner", "group:dev", "--label", "Theirs")
	if v := o.must("capability", "update", "pets", "--owner", "group:ops", "--label", "Pets"); v["owner"] != "group:ops" ||
		v["label"] != "Pets" {
		t.Errorf("both are changed: %v", v)
	}
	o.must("group", "delete", "ops")
	if v := o.must("capability", "show", "pets"); v["owner"] != nil || v["label"] != "Pets" {
		t.Errorf("of a group that is gone: %v", v)
	}
}

func TestRegistrarThatFailsIsNoMistakeOfTheCaller(t *testing.T) {
	away := fmt.Errorf("%w: disk full", storage.ErrUnavailable)
	if err := refused(away); !errors.Is(err, storage.ErrUnavailable) {
		t.Errorf("refused(%v) = %v", away, err)
	}
}

// fullBus leaves out those that are in it.
type fullBus map[string]string

func (fullBus) Reload(context.Context) error { return nil }
func (fullBus) Update(context.Context, storage.Capability, []toolplan.Tool, int64) error {
	return nil
}
func (b fullBus) WhyUnlisted(member string) string { return b[member] }

// An operator sees at once that tools are registered and still not on the bus.
func TestCapabilityShowsWhatTheBusLeavesOut(t *testing.T) {
	const why = "the bus leaves this capability out"
	o := workshop(t, false)
	var err error
	o.target.Registry, err = registry.New(t.Context(), registry.Config{
		BaseURL: "http://localhost", Store: o.target.Store, Visitors: nobody{}, MaxCapabilities: 1, MaxTools: 1,
		NoDelivery: true, Bus: fullBus{"pets": why},
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, member := range []string{"pets", "more"} { // more than a share: it is not meant for the command line
		v := o.must("capability", "register", member, "--upstream", "https://pets.example.com", "--openapi", file(t, pets))
		if warned := v["warning"] == why; warned != (member == "pets") {
			t.Errorf("registered is %v", v)
		}
	}
	if v := o.must("capability", "show", "pets"); v["warning"] != why {
		t.Errorf("shown is %v, want a warning", v)
	}
	rows := o.rows("capability", "list")
	if len(rows) != 2 || rows[0]["member"] != "more" || rows[0]["warning"] != "" || rows[1]["warning"] != why {
		t.Errorf("listed is %v, want one warning", rows)
	}
	o.wantFailure(1, "member: there is \"pets\" already, which differs in case, - and _ alone: register that one again, "+
		"or choose another name (errcode 4004)\n",
		"capability", "register", "PETS", "--upstream", "https://pets.example.com", "--openapi", file(t, pets))
}

func TestCapabilityTimeoutIsTypedAndShown(t *testing.T) {
	o := workshop(t, false)
	words := []string{"capability", "register", "pets", "--upstream", "https://pets.example.com", "--openapi",
		file(t, pets)}
	for _, c := range []struct {
		typed []string
		shown float64
	}{{[]string{"--timeout", "1m30s"}, 90}, {[]string{"--timeout", "10m"}, 600}, {[]string{"--timeout", "1s"}, 1},
		{nil, 30}} {
		o.must(slices.Concat(words, c.typed)...)
		if v := o.must("capability", "show", "pets"); v["timeout"] != c.shown {
			t.Errorf("%q: it is shown as %v, want %v", c.typed, v["timeout"], c.shown)
		}
	}
	for _, typed := range []string{"90", "0s", "-1s", "10m1s", "1500ms", "forever"} {
		o.wantFailure(2, "is not whole seconds from 1s to 10m", slices.Concat(words, []string{"--timeout", typed})...)
	}
}
