package admin

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/keystile/keystile/cmd/keystile/internal/cli"
	"github.com/keystile/keystile/cmd/keystile/internal/folder"
)

func TestLargeDocumentPassesThroughTheSocketAndIsToldOf(t *testing.T) {
	for running, size := range map[bool]int{true: 14_000_000, false: 1 << 20} {
		document := `{"openapi":"3.0.3","paths":{"/a":{"get":{"operationId":"a"}}},"x":"` + strings.Repeat("x", size) + `"}`
		o := workshop(t, false)
		if running {
			o.serve()
			o.held = errLocked
		}
		code, out, errs := o.run("", "capability", "register", "pets", "--upstream", "https://pets.example.com", "--openapi",
			file(t, document), "--json")
		var v map[string]any
		if err := json.Unmarshal([]byte(out), &v); code != 0 || err != nil || v["tool_count"] != 1.0 {
			t.Fatalf("register = %d %s %s", code, out, errs)
		}
		want := fmt.Sprintf("keystile: read %d bytes\n", len(document))
		if running {
			want += "keystile: sending "
		}
		if !strings.HasPrefix(errs, want) || !strings.HasSuffix(errs, "keystile: parsing\nkeystile: done\n") {
			t.Errorf("running %t: told was %s", running, errs)
		}
	}
}

const petsYAML = `# The pets, as people write them.
openapi: 3.0.3
paths:
  /pets/{id}:
    get:
      operationId: getPet
      parameters:
      - {name: id, in: path, schema: {type: string}}
      - {name: full, in: query, schema: {type: boolean}}
      -
  /pets: {post: {}}
`

func TestDocumentInYAMLIsReadFromAFileOrTheStandardInput(t *testing.T) {
	for _, running := range []bool{false, true} {
		o := workshop(t, false)
		if running {
			o.serve()
			o.held = errLocked
		}
		o.must("capability", "register", "json", "--upstream", "https://pets.example.com", "--openapi", file(t, pets))
		o.must("capability", "register", "file", "--upstream", "https://pets.example.com", "--openapi", file(t, petsYAML))
		if code, _, errs := o.run(petsYAML, "capability", "register", "stdin", "--upstream", "https://pets.example.com",
			"--openapi", "-"); code != 0 {
			t.Fatalf("running %t: register = %d %s", running, code, errs)
		}
		_, want, err := o.target.Store.Tools(t.Context(), "json")
		if err != nil || len(want) != 2 {
			t.Fatalf("running %t: the tools of JSON are %v, %v", running, want, err)
		}
		for _, member := range []string{"file", "stdin"} {
			if c, got, err := o.target.Store.Tools(t.Context(), member); err != nil || !reflect.DeepEqual(got, want) ||
				len(c.Skipped) != 1 {
				t.Errorf("running %t: the tools of %s are %v, %v, want %v", running, member, got, err, want)
			}
		}
		latin1 := "openapi: 3.0.3\npaths: {/a: {get: {summary: caf\xe9}}}\n"
		o.wantFailure(1, "is not UTF-8: save it as UTF-8", "capability", "preview", "--openapi", file(t, latin1))
		o.wantFailure(1, "is not UTF-8: save it as UTF-8", "capability", "preview", "--openapi",
			file(t, "\xff\xfe{\x00}\x00"))
	}
}

func TestCapabilityFileOfAnotherCommandAddsNothing(t *testing.T) {
	o := workshop(t, false)
	o.serve()
	o.wantFailure(1, "too large", "setting", "set", "oauth_force_pkce", strings.Repeat("1", 1<<20))
	f, err := folder.Open(o.data)
	if err != nil {
		t.Fatal(err)
	}
	socket, err := f.Socket()
	if err != nil {
		t.Fatal(err)
	}
	long := command{name: "setting set", brings: true} // as nobody's client asks
	args := cli.Args{Words: []string{"oauth_force_pkce", strings.Repeat("1", 1<<20)}}
	if _, err := long.ask(t.Context(), socket, args, &progress{}); err == nil ||
		!strings.Contains(err.Error(), "brings no document") {
		t.Errorf("a long request of another command = %v", err)
	}
	o.wantFailure(1, "more than", "capability", "register", "pets", "--upstream", "https://pets.example.com", "--openapi",
		file(t, strings.Repeat(" ", maxFile+1)))
}

func TestStagesAreToldOnceAndOnlyWhereSomebodyLooks(t *testing.T) {
	var out bytes.Buffer
	quiet := &progress{w: &out}
	quiet.stage("parsing")
	loud := &progress{w: &out, on: true}
	for _, stage := range []string{"sending", "sending", "parsing"} {
		loud.stage("%s", stage)
	}
	if out.String() != "keystile: sending\nkeystile: parsing\n" {
		t.Errorf("told was %q", out.String())
	}
}
