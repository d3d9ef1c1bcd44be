package admin

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

const onePet = `{"openapi":"3.0.3","info":{"title":"Pets","version":"1"},` +
	`"paths":{"/pets":{"get":{"operationId":"onlyOne"}}}}`

// Secrets come from the standard input or a file, and stand in no answer, log or trail.
func TestCapabilityIsUpdatedAndItsToolsStay(t *testing.T) {
	o := workshop(t, false)
	o.serve()
	headers := file(t, "X-Tenant-Key: sesame-tenant\r\n\r\nX-Old: sesame-old\n")
	code, out, errs := o.run("", "capability", "register", "pets", "--upstream", "https://pets.example.com",
		"--openapi", file(t, pets),
		"--auth-type", "bearer", "--auth-secret", "sesame-0123456789", "--header", "@"+headers, "--json")
	if code != 0 {
		t.Fatalf("register = %d %s", code, errs)
	}
	_, tools, err := o.target.Store.Tools(t.Context(), "pets")
	if err != nil || len(tools) == 0 {
		t.Fatal(tools, err)
	}
	code, more, errs2 := o.run("X-New: sesame-new\n", "capability", "update", "pets", "--label", "Pets", "--timeout",
		"90s", "--header", "@-", "--remove-header", "x-old")
	if code != 0 {
		t.Fatalf("update = %d %s", code, errs2)
	}
	code, evenMore, errs3 := o.run("sesame-second\n", "capability", "update", "pets", "--auth-secret", "-", "--json")
	if code != 0 {
		t.Fatalf("update = %d %s", code, errs3)
	}
	c, after, err := o.target.Store.Tools(t.Context(), "pets")
	if err != nil || len(after) != len(tools) || c.Label != "Pets" || c.Timeout != 90 ||
		!c.AuthSecret.Equal("sesame-second") ||
		!slices.Equal(c.HeaderNames(), []string{"X-New", "X-Tenant-Key"}) ||
		!c.SecretHeaders()["X-New"].Equal("sesame-new") ||
		!c.SecretHeaders()["X-Tenant-Key"].Equal("sesame-tenant") {
		t.Errorf("stored is %+v with %d tools, %v", c, len(after), err)
	}
	_, shown, _ := o.run("", "capability", "show", "pets", "--json")
	if !strings.Contains(shown, `"header_names":["X-New","X-Tenant-Key"]`) {
		t.Errorf("shown is %s", shown)
	}
	if all := out + errs + more + errs2 + evenMore + errs3 + shown + o.log.String() +
		fmt.Sprint(o.trail); strings.Contains(all, "sesame") {
		t.Errorf("a secret is in %s", all)
	}
	if trail := fmt.Sprint(o.trail); !strings.Contains(trail, "capability update pets") {
		t.Errorf("the trail is %s", trail)
	}
	if o.must("capability", "update", "pets", "--label=", "--timeout=")["timeout"] != 30.0 {
		t.Error("the timeout stays")
	}
}

func TestUpdateThatIsTypedWrongSaysWhatToDo(t *testing.T) {
	o := workshop(t, false)
	o.must("capability", "register", "pets", "--upstream", "https://pets.example.com", "--openapi", file(t, pets))
	update := func(more ...string) []string { return append([]string{"capability", "update", "pets"}, more...) }
	o.wantFailure(2, "changes nothing", update()...)
	o.wantFailure(2, "a name, a colon and a value", update("--header", "sesame")...)
	if _, _, errs := o.run("", update("--header", "sesame")...); strings.Contains(errs, "sesame") {
		t.Errorf("the error repeats what may be a secret: %s", errs)
	}
	o.wantFailure(2, "there are none", update("--header", "@-")...)
	o.wantFailure(1, "no such file", update("--header", "@/nowhere")...)
	o.wantFailure(2, "both read the standard input", update("--header", "@-", "--auth-secret", "-")...)
	o.wantFailure(2, "90s", update("--timeout", "90")...)
	o.wantFailure(1, "auth_secret", update("--auth-type", "bearer")...)
	o.wantFailure(1, `"Host"`, update("--header", "Host: x")...)
	o.wantFailure(1, "no such capability", "capability", "update", "none", "--label", "x")
}

// A registration under a mistyped name, or of the wrong document, removes no tools.
func TestToolsGoOnlyWithReplace(t *testing.T) {
	o := workshop(t, false)
	register := func(document string, more ...string) []string {
		return append([]string{"capability", "register", "pets", "--upstream", "https://pets.example.com", "--openapi",
			file(t, document)}, more...)
	}
	o.must(register(pets)...)
	o.must(register(pets)...)
	_, before, _ := o.target.Store.Tools(t.Context(), "pets")
	o.wantFailure(1, before[0].Name, register(onePet)...)
	o.wantFailure(1, "--replace", register(onePet)...)
	if _, after, err := o.target.Store.Tools(t.Context(), "pets"); err != nil || len(after) != len(before) {
		t.Errorf("%d tools are left, %v", len(after), err)
	}
	v := o.must(register(onePet, "--replace")...)
	if removed := v["removed"].([]any); len(removed) != len(before) {
		t.Errorf("removed are %v", removed)
	}
}
