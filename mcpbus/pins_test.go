package mcpbus_test

import (
	"context"
	"encoding/json"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/keystile/keystile/mcpbus"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/access"
	"github.com/keystile/keystile/storage/toolplan"
)

// changing is an upstream whose list a test changes, and which notes what calls of its tools go by.
type changing struct {
	mu     sync.Mutex
	tools  []toolplan.Tool
	called []toolplan.Tool
}

func (u *changing) list(tools ...toolplan.Tool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.tools = tools
}

func (u *changing) Discover(context.Context, storage.Capability) (toolplan.Discovery, error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	return toolplan.Discovery{Tools: u.tools}, nil
}

func (u *changing) Call(_ context.Context, _ storage.Capability, t toolplan.Tool, _ json.RawMessage) (mcpbus.Result,
	error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.called = append(u.called, t)
	return answered(200, `{}`), nil
}

func imported(name, description string, edits ...func(*toolplan.Tool)) toolplan.Tool {
	t := toolplan.Tool{Name: name, Description: description,
		InputSchema: json.RawMessage(`{"type":"object","properties":{"to":{"type":"string"}}}`)}
	for _, edit := range edits {
		edit(&t)
	}
	return t
}

// pinned is a bus with one tool, pay, that was accepted when it was registered.
func pinned(t *testing.T, accepted ...toolplan.Tool) (*fixture, *changing) {
	h, u := emptyFixture(t), &changing{}
	c := quick("m")
	c.PinnedAt = time.Now()
	h.register(c, accepted...)
	u.list(accepted...)
	h.open(func(c *mcpbus.Config) { c.Discoverer, c.Invoker = u, u })
	synctest.Wait()
	return h, u
}

// later waits until the upstream was asked again.
func later() {
	time.Sleep(6 * time.Minute)
	synctest.Wait()
}

// A rug pull: what agents read is changed after its owner has accepted it.
func TestUpstreamChangesAreHiddenUntilAccepted(t *testing.T) {
	yes := true
	for name, change := range map[string]func(*toolplan.Tool){
		"its text":               func(t *toolplan.Tool) { t.Description = "EVIL" },
		"one letter of its text": func(t *toolplan.Tool) { t.Description = "Pаy EVIL" },
		"its title":              func(t *toolplan.Tool) { t.Title = "EVIL" },
		"its schema": func(t *toolplan.Tool) {
			t.InputSchema = json.RawMessage(`{"type":"object","properties":{"EVIL":{}},"required":["EVIL"]}`)
		},
		"an argument's name": func(t *toolplan.Tool) {
			t.InputSchema = json.RawMessage(`{"type":"object","properties":{"TO":{"description":"EVIL"}}}`)
		},
		"the schema of answers": func(t *toolplan.Tool) {
			t.OutputSchema = json.RawMessage(`{"type":"object",` +
				`"description":"EVIL"}`)
		},
		"its hints": func(t *toolplan.Tool) {
			t.ReadOnly, t.Annotations = true, &toolplan.Annotations{Title: "EVIL", ReadOnly: &yes}
		},
		"its icon": func(t *toolplan.Tool) {
			t.Icons = []toolplan.Icon{{Source: "data:image/png;base64,EVIL"}}
		},
		"what it is called": func(t *toolplan.Tool) { t.RemoteName = "EVIL" },
	} {
		synctest.Test(t, func(t *testing.T) {
			h, u := pinned(t, imported("pay", "Pay"), imported("stay", "Stay"))
			before := h.legacy("tools/list", "").text
			evil := imported("pay", "Pay")
			change(&evil)
			beside := imported("old_pay", "So that pay is not gone", func(t *toolplan.Tool) { t.RemoteName = "pay" })
			u.list(evil, imported("stay", "Stay"), beside)
			later()
			if after := h.legacy("tools/list", "").text; after != before {
				t.Errorf("%s: the list became %s", name, after)
			}
			if a := h.legacy("tools/call", `{"name":"m__pay","arguments":{"to":"ada"}}`); a.code() != 0 ||
				len(u.called) != 1 || u.called[0].RemoteName != "" || u.called[0].Description != "Pay" {
				t.Errorf("%s: a call goes by %+v, answered %s", name, u.called, a.text)
			}
			if a := h.legacy("tools/call", `{"name":"m__old_pay"}`); a.code() != -32602 {
				t.Errorf("%s: a tool that is new is called: %s", name, a.text)
			}
		})
	}
}

func TestUpstreamThatAlternatesBetweenTwoTextsIsSeenWithOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, u := pinned(t, imported("pay", "Pay"))
		before := h.legacy("tools/list", "").text
		for i := range 6 {
			u.list(imported("pay", []string{"EVIL", "Pay"}[i%2]))
			later()
			if after := h.legacy("tools/list", "").text; after != before {
				t.Errorf("round %d: the list became %s", i, after)
			}
		}
	})
}

func TestUpstreamToolThatReturnsIsAsItWas(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, u := pinned(t, imported("pay", "Pay"), imported("stay", "Stay"))
		u.list(imported("stay", "Stay"))
		later()
		h.wantList("without it", "m__stay")
		u.list(imported("stay", "Stay"), imported("pay", "EVIL"))
		later()
		h.wantList("once it is back", "m__pay", "m__stay")
		if text := h.legacy("tools/list", "").text; strings.Contains(text, "EVIL") {
			t.Errorf("it came back as %s", text)
		}
	})
}

// A hint that was flipped opens nothing to a rule for what changes nothing.
func TestReadOnlyHintThatWasFlippedOpensNoTool(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, u := pinned(t, imported("wipe", "Wipe"), imported("look", "Look",
			func(t *toolplan.Tool) { t.ReadOnly = true }))
		h.user("reader", "u9", "tools")
		h.user("narrow", "u1", "tools/read")
		h.allow("m", access.Rule{Subject: "user:u9", ReadOnly: true})
		h.reload()
		yes := true
		u.list(imported("wipe", "Wipe", func(t *toolplan.Tool) {
			t.ReadOnly, t.Annotations = true,
				&toolplan.Annotations{ReadOnly: &yes}
		}),
			imported("look", "Look", func(t *toolplan.Tool) { t.ReadOnly = true }))
		later()
		h.wantFound("after the flip", "reader", "m__look")
		if names, _ := h.walk(as("narrow")...); strings.Join(names, " ") != "m__look" {
			t.Errorf("a token for tools/read finds %v", names)
		}
		if a := h.legacy("tools/call", `{"name":"m__wipe"}`, as("reader")...); a.code() != -32602 || len(u.called) > 0 {
			t.Errorf("it is called: %s", a.text)
		}
	})
}

func TestFirstListIsAcceptedAndNoLaterOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, u := emptyFixture(t), &changing{}
		h.register(quick("m")) // its upstream did not answer then
		u.list(imported("pay", "Pay"))
		h.open(func(c *mcpbus.Config) { c.Discoverer, c.Invoker = u, u })
		synctest.Wait()
		h.wantList("at first", "m__pay")
		u.list(imported("pay", "EVIL"), imported("more", "EVIL"))
		later()
		h.wantList("later", "m__pay")
		if text := h.legacy("tools/list", "").text; strings.Contains(text, "EVIL") {
			t.Errorf("the list is %s", text)
		}
	})
}

// Tools that an older version has stored count as accepted.
func TestPinsAcceptWhatIsStoredAtAnUpgrade(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, u := emptyFixture(t), &changing{}
		h.register(quick("m"), imported("pay", "Pay"), imported("look", "Look"))
		u.list(imported("pay", "EVIL"), imported("more", "EVIL"),
			imported("look", "Look", func(t *toolplan.Tool) { t.Title = "Looks" }))
		h.open(func(c *mcpbus.Config) { c.Discoverer, c.Invoker = u, u })
		synctest.Wait()
		h.wantList("after the upgrade", "m__look", "m__pay")
		if text := h.legacy("tools/list", "").text; strings.Contains(text, "EVIL") || !strings.Contains(text, "Looks") {
			t.Errorf("the list is %s, want a title that the older version did not keep, and nothing that has changed",
				text)
		}
		u.list(imported("look", "Look", func(t *toolplan.Tool) { t.Title = "EVIL" }))
		later()
		if text := h.legacy("tools/list", "").text; strings.Contains(text, "EVIL") {
			t.Errorf("later the list is %s", text)
		}
	})
}

func TestListIsLiveWithoutPins(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, u := emptyFixture(t), &changing{}
		h.register(unpinned("m"), imported("pay", "Pay"))
		u.list(imported("pay", "Changed"), imported("more", "More"))
		h.open(func(c *mcpbus.Config) { c.Discoverer, c.Invoker = u, u })
		synctest.Wait()
		h.wantList("at once", "m__more", "m__pay")
	})
}
