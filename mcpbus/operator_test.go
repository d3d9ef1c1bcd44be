package mcpbus_test

import (
	"encoding/json"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/keystile/keystile/internal/reply"
	"github.com/keystile/keystile/mcpbus"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/access"
	"github.com/keystile/keystile/storage/toolplan"
)

func TestCallForSomebodyIsChargedRecordedAndRuledAsAnyOther(t *testing.T) {
	h := newFixture(t)
	h.allow("pets", access.Rule{Subject: "user:u7", Deny: true, Tools: []string{"dropPet"}})
	h.reload()
	person := storage.Caller{AppID: storage.KeysAppID, UserID: "u7", Scope: "tools", Audience: issuer}
	call := func(c storage.Caller, tool, arguments string) (string, int) {
		var raw json.RawMessage
		if arguments != "" {
			raw = json.RawMessage(arguments)
		}
		out, err := h.bus.CallFor(httptest.NewRequest("POST", issuer+"/console/", nil), c, tool, raw)
		if err != nil {
			return "", reply.FailureOf(err).Status
		}
		return string(out), 200
	}
	out, status := call(person, "pets__getPet", `{"id":7}`)
	if status != 200 || !strings.Contains(out, "pets.getPet") || !json.Valid([]byte(out)) {
		t.Fatalf("the call is %d %s", status, out)
	}
	charges, events := h.meter.bill()
	if len(charges) != 1 || !strings.HasPrefix(charges[0], storage.KeysAppID+" mcp ") || len(events) != 1 ||
		events[0].User != "u7" {
		t.Errorf("the call is charged as %q and recorded as %+v", charges, events)
	}
	narrow := person
	narrow.Scope = "openid"
	for name, c := range map[string]struct {
		who             storage.Caller
		tool, arguments string
		want            int
	}{
		"a tool that a rule denies": {person, "pets__dropPet", "{}", 404},
		"a tool that is none":       {person, "pets__none", "{}", 404},
		"another scope":             {narrow, "pets__getPet", "{}", 403},
		"arguments twice":           {person, "pets__getPet", `{"id":1,"id":2}`, 400},
		"a list of arguments":       {person, "pets__getPet", `[1]`, 400},
		"deep arguments":            {person, "pets__getPet", strings.Repeat(`{"a":`, 200) + "1" + strings.Repeat("}", 200), 400},
	} {
		if _, got := call(c.who, c.tool, c.arguments); got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
	}
	if len(h.calls.seen) != 1 {
		t.Errorf("what was refused reached the upstream: %q", h.calls.seen)
	}
}

func TestToolsOfACapabilityAreThoseOnTheBus(t *testing.T) {
	h := newFixture(t)
	var names []string
	for _, tool := range h.bus.ToolsOf("pets") {
		names = append(names, tool.Name)
	}
	if got := strings.Join(names, " "); got != "addPet dropPet getPet" {
		t.Errorf("the tools of pets are %s", got)
	}
	if got := h.bus.ToolsOf("none"); got != nil {
		t.Errorf("the tools of no capability are %v", got)
	}
}

// The explanation is the decision, for each tool and each kind of caller.
func TestOperatorSeesWhatAUserCanCall(t *testing.T) {
	for _, standing := range []string{storage.AccessEveryone, storage.AccessOwner} {
		h := newFixture(t, func(c *mcpbus.Config) {
			c.DefaultAccess = standing
			c.Visible = func(_ storage.Caller, _ storage.Capability, tool toolplan.Tool) bool { return tool.Name != "addPet" }
		})
		h.allow("pets", access.Rule{Subject: "user:u7"}, access.Rule{Subject: "user:u7", Deny: true,
			Tools: []string{"dropPet"}}, access.Rule{Subject: "app:app9", ReadOnly: true})
		h.reload()
		if h.bus.OpenToAll() != (standing == storage.AccessEveryone) {
			t.Errorf("by default %s, and open is %t", standing, h.bus.OpenToAll())
		}
		for _, v := range []access.Viewer{{User: "u7"}, {User: "u1"}, {User: "u8"}, {App: "app9"},
			{User: "u8", App: "app9"}} {
			all, next, err := h.bus.Explain(t.Context(), v, "", 200)
			if err != nil || next != "" || len(all) != 4 {
				t.Fatalf("%+v sees %+v, %q, %v", v, all, next, err)
			}
			for _, one := range all {
				caller := storage.Caller{AppID: v.App, UserID: v.User, Scope: "tools", Audience: issuer}
				_, err := h.bus.CallFor(httptest.NewRequest("POST", issuer, nil), caller, one.Tool, json.RawMessage("{}"))
				if one.Allowed != (err == nil) || !one.Allowed && one.Rule == nil && one.Because == "" {
					t.Errorf("by default %s, %+v sees %+v, and the call is %v", standing, v, one, err)
				}
			}
		}
	}
}

func TestOperatorSeesListsInPages(t *testing.T) {
	h := newFixture(t)
	var names []string
	for after := ""; ; {
		all, next, err := h.bus.Explain(t.Context(), access.Viewer{Role: storage.RoleDeveloper}, after, 3)
		if err != nil || len(all) > 3 {
			t.Fatal(all, err)
		}
		for _, one := range all {
			names = append(names, one.Tool)
		}
		if after = next; next == "" {
			break
		}
	}
	if got := strings.Join(names, " "); got != "maths__add pets__addPet pets__dropPet pets__getPet" {
		t.Errorf("the pages hold %s", got)
	}
}
