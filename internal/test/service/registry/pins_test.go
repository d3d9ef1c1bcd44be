package registry_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/keystile/keystile/internal/reply"
	"github.com/keystile/keystile/registry"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/event"
	"github.com/keystile/keystile/storage/memory"
	"github.com/keystile/keystile/storage/toolplan"
)

func found(name, description string) toolplan.Tool {
	return toolplan.Tool{Name: name, Description: description,
		InputSchema: json.RawMessage(`{"type":"object","properties":{}}`)}
}

// pinned registers m, whose upstream lists the tool search.
func pinned(t testing.TB, fields string) (h *fixture, mina storage.User) {
	h = newFixture(t, func(c *registry.Config) { c.Discoverer = upstreams{} })
	mina = h.user("mina", storage.RoleDeveloper)
	h.want(h.register(h.visitor(mina), `{"member":"m","upstream_url":"https://mcp.example.com/mcp"`+fields+`}`), 200, 1,
		"a registration")
	h.mu.Lock()
	h.events = nil
	h.mu.Unlock()
	return h, mina
}

func described(tools []toolplan.Tool) (all []string) {
	for _, t := range tools {
		all = append(all, t.Name+" "+t.Description)
	}
	return all
}

func (h *fixture) wantAccepted(what string, want ...string) {
	h.Helper()
	_, tools, err := h.store.Tools(h.Context(), "m")
	if got := described(tools); err != nil || !slices.Equal(got, want) {
		h.Errorf("%s: accepted are %q, %v, want %q", what, got, err, want)
	}
}

func refusedWith(err error) int {
	no := (*reply.Failure)(nil)
	if errors.As(err, &no) {
		return no.Status
	}
	return 0
}

func TestHeldToolsAreToldToTheirOwnerOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, mina := pinned(t, `,"webhook_url":"https://hooks.example.com/"`)
		for range 5 {
			h.found("m", found("search", "Changed"), found("more", "More"))
			time.Sleep(7 * time.Hour)
		}
		if len(h.notices) != 1 || h.notices[0].Kind != event.NoticeTools || h.notices[0].Capability != "m" ||
			h.notices[0].Detail != "search, more" {
			t.Errorf("notices: %+v, want one", h.notices)
		}
		if len(h.events) != 1 || h.events[0].User != mina.Sub ||
			!strings.HasSuffix(h.events[0].Detail, ": 1 changed (search), 1 new (more)") ||
			!strings.HasPrefix(h.events[0].Detail, "hold m ") {
			t.Errorf("on the trail: %+v", h.events)
		}
		all, err := h.store.Deliveries(t.Context(), "m")
		if err != nil || len(all) != 3 || all[2].Event != "capability.changed" ||
			!strings.Contains(string(all[2].Payload),
				`"data":{"member":"m","kind":"mcp","tool_count":1,"changed":["search"],"new":["more"],"gone":[],`+
					`"more":0,`+
					`"digest":"`) {
			t.Errorf("deliveries: %v, %v", all, err)
		}
	})
}

// An upstream that changes each time it is asked must fill neither the store nor a mailbox.
func TestUpstreamThatChangesAllTheTimeIsToldOfRarely(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	synctest.Test(t, func(t *testing.T) {
		h, _ := pinned(t, `,"webhook_url":"https://hooks.example.com/"`)
		writes := 0
		h.backend.before(func(docs []driver.Doc) error {
			for _, d := range docs {
				if d.Kind == "heldtools" {
					writes++
				}
			}
			return nil
		}, nil)
		for i := range 24 * 3600 / 30 { // every 30 seconds for a day
			h.found("m", found("search", fmt.Sprint("Text ", i)))
			time.Sleep(30 * time.Second)
		}
		if len(h.notices) > 4 || len(h.notices) < 3 || len(h.events) != len(h.notices) {
			t.Errorf("%d notices and %d records in a day, want at most four", len(h.notices), len(h.events))
		}
		if writes > 24*60+4 {
			t.Errorf("%d writes in a day, want one a minute at most", writes)
		}
		if h, err := h.store.Held(t.Context(), "m"); err != nil || len(h.Told) > 8 || len(h.Tools) != 1 {
			t.Errorf("held is %+v, %v", h, err)
		}
	})
}

func TestUpstreamThatAlternatesIsToldOfOnceForEachText(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, _ := pinned(t, "")
		for i := range 40 {
			h.found("m", found("search", []string{"A", "B", "Search"}[i%3]))
			time.Sleep(7 * time.Hour)
		}
		if len(h.notices) != 2 {
			t.Errorf("%d notices of two texts", len(h.notices))
		}
	})
}

func TestHeldToolsAreBoundedInSize(t *testing.T) {
	h, mina := pinned(t, "")
	var many []toolplan.Tool
	for i := range 1200 {
		many = append(many, found(fmt.Sprintf("t%04d", i), fmt.Sprint(rand.Uint64())))
	}
	h.found("m", many...)
	shown, err := h.registry.ShowPins(t.Context(), mina, "m")
	if err != nil || len(shown.Tools) != 500 || shown.More != 700 {
		t.Fatalf("%d are shown and %d more, %v; want 500 and 700", len(shown.Tools), shown.More, err)
	}
	large := found("large", strings.Repeat("x", 1<<20))
	h2, mina := pinned(t, "")
	one, two, three := large, large, large
	one.Name, two.Name, three.Name = "a", "b", "c"
	h2.found("m", one, two, three)
	if shown, err := h2.registry.ShowPins(t.Context(), mina, "m"); err != nil || len(shown.Tools) != 1 ||
		shown.More != 2 {
		t.Errorf("of 3 MB %d are shown and %d more, %v", len(shown.Tools), shown.More, err)
	}
}

func TestRegisteringAgainAcceptsWhatIsThereThen(t *testing.T) {
	h, mina := pinned(t, "")
	h.found("m", found("search", "EVIL"))
	h.want(h.register(h.visitor(mina), `{"member":"m","upstream_url":"https://mcp.example.com/mcp"}`), 200, 1, "again")
	if held, err := h.store.Held(t.Context(), "m"); err != nil || held.Digest != "" {
		t.Errorf("held is %+v, %v", held, err)
	}
	h.wantAccepted("after it was registered again", "search Search")
}

// An update touches no tool, so it accepts nothing; pins that are off hold nothing.
func TestUpdateAcceptsNothing(t *testing.T) {
	h, mina := pinned(t, "")
	h.found("m", found("search", "EVIL"))
	update := func(body string) {
		t.Helper()
		if _, _, err := (registry.Forms{Registry: h.registry}).UpdateBody(t.Context(), mina, "m", []byte(body)); err != nil {
			t.Fatal(err)
		}
	}
	update(`{"label":"Another"}`)
	if live := h.found("m", found("search", "EVIL")); len(live) != 1 || live[0].Description != "Search" {
		t.Errorf("after an update live are %v", described(live))
	}
	if held, err := h.registry.ShowPins(t.Context(), mina, "m"); err != nil || len(held.Tools) != 1 {
		t.Errorf("after an update held is %+v, %v", held, err)
	}
	update(`{"pins":"off"}`)
	if held, err := h.registry.ShowPins(t.Context(), mina, "m"); err != nil || len(held.Tools) != 0 ||
		held.Capability.Pins() != "off" {
		t.Errorf("with pins off held is %+v, %v", held, err)
	}
	update(`{"pins":null}`)
	h.wantAccepted("with pins on again", "search Search")
	if c, err := h.store.Capability(t.Context(), "m"); err != nil || c.Pins() != "on" || c.PinnedAt.IsZero() {
		t.Errorf("with pins on again it is %+v, %v", c, err)
	}
	if live := h.found("m", found("search", "EVIL")); len(live) != 1 || live[0].Description != "Search" {
		t.Errorf("with pins on again live are %v", described(live))
	}
}

func TestUpstreamThatListsNothingIsHeldToThat(t *testing.T) {
	h := newFixture(t, func(c *registry.Config) { c.Discoverer = upstreams{} })
	mina := h.user("mina", storage.RoleDeveloper)
	h.want(h.register(h.visitor(mina), `{"member":"m","upstream_url":"https://empty.example.com/mcp"}`), 200, 1,
		"a registration")
	if live := h.found("m", found("late", "EVIL")); live != nil {
		t.Errorf("live are %v", live)
	}
	h.wantAccepted("later")
}

// A bus that was faster stores the first list; whoever registers is told that, and nothing of a rival.
func TestFirstListMayBeStoredByAnotherNode(t *testing.T) {
	var h *fixture
	h = newFixture(t, func(c *registry.Config) {
		c.Discoverer = discoverer(func(_ context.Context, c storage.Capability) (toolplan.Discovery, error) {
			h.found("m", found("search", "As the other node heard it"))
			return toolplan.Discovery{Tools: []toolplan.Tool{found("search", "As this one heard it")}}, nil
		})
	})
	mina := h.user("mina", storage.RoleDeveloper)
	a := h.want(h.register(h.visitor(mina), `{"member":"m","upstream_url":"https://mcp.example.com/mcp"}`), 200, 1,
		"a registration")
	if a.body.Data.Warning != "" || a.body.Data.ToolCount != 1 {
		t.Errorf("answered %s", a.text)
	}
	h.wantAccepted("first", "search As the other node heard it")
	if live := h.found("m", found("search", "As this one heard it")); len(live) != 1 ||
		live[0].Description != "As the other node heard it" || len(h.notices) != 1 {
		t.Errorf("at this node live are %v", described(live))
	}
}

// Two nodes are told different things, and accepting at one is accepting at both.
func TestAcceptingAtOneNodeIsAcceptingAtAll(t *testing.T) {
	b, key := memory.New(), storage.NewMasterKey()
	one := newNode(t, b, key, func(c *registry.Config) { c.Discoverer = upstreams{} })
	two := newNode(t, b, key)
	mina := one.user("mina", storage.RoleDeveloper)
	one.want(one.register(one.visitor(mina), `{"member":"m","upstream_url":"https://mcp.example.com/mcp"}`), 200, 1,
		"a registration")
	one.found("m", found("search", "To the first"))
	two.found("m", found("search", "To the second")) // a moment later, and so not written yet
	shown, err := two.registry.ShowPins(t.Context(), mina, "m")
	if err != nil || len(shown.Tools) != 1 || shown.Tools[0].After.Description != "To the first" {
		t.Fatalf("the second node shows %+v, %v", shown, err)
	}
	if _, err := two.registry.AcceptPins(t.Context(), mina, "m", nil, shown.Digest); err != nil {
		t.Fatal(err)
	}
	one.wantAccepted("by the second node", "search To the first")
	stale, accepted, err := one.store.Tools(t.Context(), "m")
	if err != nil {
		t.Fatal(err)
	}
	stale.Version--
	if _, _, err := one.pins.Found(t.Context(), stale, accepted[:0], accepted); !errors.Is(err, storage.ErrConflict) {
		t.Errorf("a bus that has not read what was accepted is told %v, want a conflict", err)
	}
}

func TestStoreThatFailsHoldsAllTheSame(t *testing.T) {
	h, _ := pinned(t, "")
	h.backend.before(nil, func(kind string) error {
		if kind == "heldtools" {
			return errors.New("on purpose")
		}
		return nil
	})
	if live := h.found("m", found("search", "EVIL")); len(live) != 1 || live[0].Description != "Search" {
		t.Errorf("live are %v", described(live))
	}
}
