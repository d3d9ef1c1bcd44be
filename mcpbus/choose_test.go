package mcpbus_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/keystile/keystile/mcpbus"
	"github.com/keystile/keystile/storage/toolplan"
)

// registerLater registers a capability a second after the previous one.
func (h *fixture) registerLater(owner, member string, tools ...string) {
	h.Helper()
	time.Sleep(time.Second)
	c := capability(member, "https://x.example.com")
	c.Owner = owner
	if old, err := h.store.Capability(h.Context(), member); err == nil {
		c.Version, c.CreatedAt = old.Version, old.CreatedAt
	}
	var all []toolplan.Tool
	for _, name := range tools {
		all = append(all, rest("get", name))
	}
	must(h.store.SaveCapability(h.Context(), c, all))(h)
}

// Decision 61.
func TestBusThatIsFullKeepsTheOldestRegistrations(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		h := emptyFixture(t)
		h.registerLater("u1", "payroll", "wipe", "pay")
		h.registerLater("u2", "zoo", "feed")
		h.open(func(c *mcpbus.Config) { c.MaxTools, c.Log = 4, slog.New(slog.NewTextHandler(&log, nil)) })
		h.registerLater("eve", "aaa", "x", "y")
		h.registerLater("eve2", "aab", "x", "y")
		h.reload()
		h.wantList("with two newer ones, first by name,", "payroll__pay", "payroll__wipe", "zoo__feed")
		h.registerLater("eve", "aac", "z")
		h.reload()
		h.wantList("with one that fits,", "aac__z", "payroll__pay", "payroll__wipe", "zoo__feed")
		h.registerLater("u1", "payroll", "wipe", "due")
		h.reload()
		h.wantList("after the oldest was registered again,", "aac__z", "payroll__due", "payroll__wipe", "zoo__feed")
		if why := h.bus.WhyUnlisted("aaa"); !strings.Contains(why, "at most 4 tools") {
			t.Errorf("LeftOut(aaa) = %q, want the bound named", why)
		}
		if n := strings.Count(log.String(), "member=aaa"); n != 1 {
			t.Errorf("that aaa is left out is logged %d times, want once:\n%s", n, &log)
		}
		if err := h.store.DeleteCapability(t.Context(), must(h.store.Capability(t.Context(), "payroll"))(t)); err != nil {
			t.Fatal(err)
		}
		h.reload()
		h.wantList("once the oldest is gone,", "aaa__x", "aaa__y", "aac__z", "zoo__feed")
		if why := h.bus.WhyUnlisted("aaa"); why != "" {
			t.Errorf("LeftOut(aaa) = %q, though it is listed", why)
		}
	})
}

func TestOwnersWhoFillTheirSharesTogetherPushOutNobodyWhoCameBefore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := emptyFixture(t)
		h.registerLater("u1", "payroll", "wipe")
		h.open(func(c *mcpbus.Config) { c.MaxTools, c.MaxOwnerTools = 10, 3 })
		for i := range 8 {
			h.registerLater(fmt.Sprint("eve", i), fmt.Sprint("a", i), "x", "y", "z")
		}
		h.reload()
		h.wantList("of nine owners", "a0__x", "a0__y", "a0__z", "a1__x", "a1__y", "a1__z", "a2__x", "a2__y", "a2__z",
			"payroll__wipe")
	})
}

func TestListLeavesOutWhatIsBeyondTheShareOfAnOwner(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := emptyFixture(t)
		h.registerLater("u1", "b", "t1", "t2")
		h.registerLater("u1", "a", "t1", "t2")
		h.registerLater("u1", "c", "t1")
		h.registerLater("u2", "d", "t1", "t2", "t3")
		h.open(func(c *mcpbus.Config) { c.MaxOwnerTools = 3 })
		h.wantList("of two owners", "b__t1", "b__t2", "c__t1", "d__t1", "d__t2", "d__t3")
		if why := h.bus.WhyUnlisted("a"); !strings.Contains(why, "at most 3") {
			t.Errorf("LeftOut(a) = %q, want the bound named", why)
		}
		for _, listed := range []string{"b", "c", "d", "unknown"} {
			if why := h.bus.WhyUnlisted(listed); why != "" {
				t.Errorf("LeftOut(%s) = %q", listed, why)
			}
		}
		h.registerLater("u1", "b", "t1", "t2", "t3", "t4")
		h.reload()
		h.wantList("after one has outgrown the share alone", "a__t1", "a__t2", "c__t1", "d__t1", "d__t2", "d__t3")
		if why := h.bus.WhyUnlisted("b"); why == "" {
			t.Error("LeftOut(b) says nothing")
		}
	})
}

func TestToolsAnUpstreamListsLaterCountForItsOwner(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, upstream := discovered(t)
		h.registerLater("u1", "a", "t1", "t2")
		time.Sleep(time.Second)
		h.register(unpinned("quick"))
		upstream.tools["quick"] = []string{"one"}
		h.open(func(c *mcpbus.Config) { c.MaxOwnerTools, c.Discoverer = 3, upstream })
		synctest.Wait()
		h.wantList("while the upstream lists one tool", "a__t1", "a__t2", "quick__one")
		upstream.set(func() { upstream.tools["quick"] = []string{"one", "two"} })
		time.Sleep(6 * time.Minute)
		synctest.Wait()
		h.wantList("when it lists two", "a__t1", "a__t2")
		if why := h.bus.WhyUnlisted("quick"); why == "" {
			t.Error("LeftOut(quick) says nothing")
		}
	})
}
