package admin

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/keystile/keystile/internal/admin"
	"github.com/keystile/keystile/registry"
	"github.com/keystile/keystile/registry/pins"
	"github.com/keystile/keystile/storage/toolplan"
)

func pinWorkshop(t *testing.T) (o *office, lists func(texts ...string)) {
	o = workshop(t, false)
	kept, err := pins.New(pins.Config{Store: o.target.Store})
	if err != nil {
		t.Fatal(err)
	}
	if o.target.Registry, err = registry.New(t.Context(), registry.Config{BaseURL: "http://localhost",
		Store: o.target.Store, Visitors: nobody{}, NoDelivery: true, Pins: kept, Audit: o}); err != nil {
		t.Fatal(err)
	}
	o.must("capability", "register", "m", "--upstream", "https://mcp.example.com/mcp")
	return o, func(texts ...string) { // name, description, and so on
		t.Helper()
		var found []toolplan.Tool
		for i := 0; i < len(texts); i += 2 {
			found = append(found, toolplan.Tool{Name: texts[i], Description: texts[i+1],
				InputSchema: json.RawMessage(`{"type":"object"}`)})
		}
		c, accepted, err := o.target.Store.Tools(t.Context(), "m")
		if err == nil {
			_, _, err = kept.Found(t.Context(), c, accepted, found)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

func TestHeldToolsAreShownAndAcceptedByCommand(t *testing.T) {
	o, lists := pinWorkshop(t)
	lists("find", "Find", "gone", "Gone")
	if _, out, _ := o.run("", "capability", "pins", "m"); out != "nothing is held\n" {
		t.Errorf("it prints %q", out)
	}
	lists("find", "Fіnd\x1b[2J all", "more", "More")
	want := "find: changed\n  /description\n    - Find\n    + Fіnd [2J all\n    (from character 2 on: U+0069 is " +
		"U+0456 now)\n" +
		"more: new\n  /description\n    + More\n  /inputSchema\n    + {\"type\":\"object\"}\n" +
		"gone: gone\naccept them with: keystile capability pins m --accept --digest "
	if _, out, _ := o.run("", "capability", "pins", "m"); !strings.HasPrefix(out, want) {
		t.Errorf("it prints %s, want %s", out, want)
	}
	if code, _, says := o.run("", "capability", "pins", "m", "find"); code != 2 || !strings.Contains(says, "--accept") {
		t.Errorf("a name alone is %d: %s", code, says)
	}
	if code, _, says := o.run("", "capability", "pins", "m", "--accept", "nothing"); code == 0 ||
		!strings.Contains(says, "nothing is held under the name") {
		t.Errorf("a name that is not held is %d: %s", code, says)
	}
	if v := o.must("capability", "pins", "m", "--accept", "more"); len(v["accepted"].([]any)) != 1 ||
		len(v["held"].([]any)) != 1 {
		t.Errorf("it answers %v", v)
	}
	if last := o.trail[len(o.trail)-1].Detail; last != "capability pins m by "+
		""+admin.CommandLine().Name()+": accepted more" {
		t.Errorf("the trail has %q", last)
	}
	o.must("capability", "pins", "m", "--accept")
	if _, tools, err := o.target.Store.Tools(t.Context(), "m"); err != nil || len(tools) != 2 ||
		tools[0].Description != "Fіnd\x1b[2J all" || tools[1].Name != "more" {
		t.Errorf("accepted are %v, %v", tools, err)
	}
	if v := o.must("capability", "pins", "m", "--accept"); len(v["accepted"].([]any)) != 0 {
		t.Errorf("accepting nothing answers %v", v)
	}
}

func TestPinsAreTurnedOffByASwitch(t *testing.T) {
	o, _ := pinWorkshop(t)
	if v := o.must("capability", "show", "m"); v["pins"] != "on" {
		t.Errorf("by default %v", v)
	}
	o.must("capability", "register", "m", "--upstream", "https://mcp.example.com/mcp", "--pins", "off")
	if v := o.must("capability", "show", "m"); v["pins"] != "off" {
		t.Errorf("with --pins off %v", v)
	}
	if code, _, says := o.run("", "capability", "register", "m", "--upstream", "https://mcp.example.com/mcp", "--pins",
		"maybe"); code != 2 || !strings.Contains(says, "neither on nor off") {
		t.Errorf("--pins maybe is %d: %s", code, says)
	}
}
