package mcpbus_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/keystile/keystile/mcpbus"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/toolplan"
)

// upstreams are MCP upstreams that are asked for their tools.
type upstreams struct {
	mu    sync.Mutex
	tools map[string][]string
	fail  error
	again time.Duration
	panic bool
	hang  chan struct{} // not nil: every answer waits for it, or for its context
	asked map[string]int
	now   int
	most  int
}

func (u *upstreams) Discover(ctx context.Context, c storage.Capability) (d toolplan.Discovery, err error) {
	u.mu.Lock()
	u.asked[c.Member]++
	u.now++
	u.most = max(u.most, u.now)
	names, fail, broken, hang := u.tools[c.Member], u.fail, u.panic, u.hang
	u.mu.Unlock()
	defer func() {
		u.mu.Lock()
		u.now--
		u.mu.Unlock()
	}()
	if hang != nil {
		select {
		case <-hang:
		case <-ctx.Done():
			return d, ctx.Err()
		}
	}
	if broken {
		panic("on purpose")
	}
	for _, name := range names {
		d.Tools = append(d.Tools, toolplan.Tool{Name: name, Description: "d", InputSchema: []byte(`{"type":"object"}`)})
	}
	d.Again = u.again
	return d, fail
}

func (u *upstreams) set(edit func()) {
	u.mu.Lock()
	defer u.mu.Unlock()
	edit()
}

func quick(member string) storage.Capability {
	c := capability(member, "https://"+member+".example.com/mcp")
	c.Kind = storage.CapabilityMCP
	return c
}

// unpinned is a capability whose upstream changes tools as it likes.
func unpinned(member string) storage.Capability {
	c := quick(member)
	c.PinsOff = true
	return c
}

func discovered(t *testing.T, members ...string) (*fixture, *upstreams) {
	h, u := emptyFixture(t), &upstreams{asked: map[string]int{}, tools: map[string][]string{}}
	for _, member := range members {
		h.register(quick(member))
		u.tools[member] = []string{"found"}
	}
	return h, u
}

// Decision 34.
func TestDiscoveryOfAQuickRegistrationIsRepeated(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, u := discovered(t, "m")
		h.register(unpinned("m"), rest("get", "stored"))
		h.register(capability("rest", "https://x.example.com"), rest("get", "x"))
		h.open(func(c *mcpbus.Config) { c.Discoverer = u })
		synctest.Wait()
		h.wantList("at once", "m__found", "rest__x")
		u.set(func() { u.tools["m"] = []string{"newer", "found", "bad name"} })
		time.Sleep(5*time.Minute - time.Second)
		synctest.Wait()
		h.wantList("before it is time,", "m__found", "rest__x")
		time.Sleep(6 * time.Second)
		synctest.Wait()
		h.wantList("after 5 minutes", "m__found", "m__newer", "rest__x")
		for what, edit := range map[string]func(){
			"away":   func() { u.fail, u.panic, u.tools["m"] = errAway, false, nil },
			"broken": func() { u.fail, u.panic = nil, true },
		} {
			u.set(edit)
			time.Sleep(6 * time.Minute)
			synctest.Wait()
			h.wantList("while the upstream is "+what, "m__found", "m__newer", "rest__x")
		}
		u.set(func() { u.fail, u.panic = nil, false })
		time.Sleep(6 * time.Minute)
		synctest.Wait()
		h.wantList("once the upstream says that it has none,", "rest__x")
		if u.asked["rest"] != 0 || u.asked["m"] != 5 {
			t.Errorf("asked %v, want m five times", u.asked)
		}
		if _, tools, err := h.store.Tools(t.Context(), "m"); err != nil || len(tools) != 1 {
			t.Errorf("the store has %v, %v; want what was registered", tools, err)
		}
	})
}

func TestUpstreamSaysHowSoonToAskAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, u := discovered(t, "m")
		u.again = 30 * time.Second
		h.open(func(c *mcpbus.Config) { c.Discoverer = u })
		time.Sleep(2*time.Minute + time.Second)
		synctest.Wait()
		if u.asked["m"] != 5 {
			t.Errorf("in 2 minutes it was asked %d times, want every 30 s", u.asked["m"])
		}
		u.set(func() { u.again = -1 })
		time.Sleep(time.Minute)
		synctest.Wait()
		if n := u.asked["m"] - 5; n < 2 || n > 13 {
			t.Errorf("an upstream that wants to be asked in the past was asked %d times in a minute, want once in 5 s", n)
		}
	})
}

func TestRegistrationAnewWinsOverDiscovery(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, u := discovered(t, "m")
		u.hang = make(chan struct{})
		h.open(func(c *mcpbus.Config) { c.Discoverer = u })
		synctest.Wait()
		h.register(capability("m", "https://x.example.com"), rest("get", "manual"))
		h.reload()
		close(u.hang)
		synctest.Wait()
		h.wantList("after a late answer", "m__manual")
	})
}

func TestDiscoveriesRunAFewAtATimeForAllUpstreams(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var members, want []string
		for i := range 23 {
			members = append(members, fmt.Sprintf("m%02d", i))
			want = append(want, fmt.Sprintf("m%02d__found", i))
		}
		h, u := discovered(t, members...)
		u.hang = make(chan struct{})
		h.open(func(c *mcpbus.Config) { c.Discoverer = u })
		synctest.Wait()
		if u.now != 4 {
			t.Errorf("%d upstreams are asked at the same time, want 4", u.now)
		}
		u.set(func() { close(u.hang) })
		synctest.Wait()
		h.wantList("without a further round", want...)
		for member, n := range u.asked {
			if n != 1 {
				t.Errorf("%s was asked %d times", member, n)
			}
		}
		if u.most != 4 {
			t.Errorf("%d upstreams were asked at the same time, want 4", u.most)
		}
	})
}

func TestUpstreamThatHangsIsLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, u := discovered(t, "a", "b", "c", "d", "e")
		u.hang = make(chan struct{})
		h.open(func(c *mcpbus.Config) { c.Discoverer = u })
		time.Sleep(31 * time.Second)
		synctest.Wait()
		if n := len(u.asked); n != 5 {
			t.Errorf("%d of 5 upstreams were asked while the others hang", n)
		}
		h.wantList("meanwhile")
	})
}

func TestUnpublishedMembersAreNotDiscovered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, u := discovered(t, "a")
		hidden := quick("b")
		hidden.Publish = false
		h.register(hidden)
		h.open(func(c *mcpbus.Config) { c.Discoverer = u })
		synctest.Wait()
		if !slices.Equal(keys(u.asked), []string{"a"}) {
			t.Errorf("asked %v, want a", u.asked)
		}
	})
}

func keys(m map[string]int) (names []string) {
	for name := range m {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

func TestCloseEndsADiscovery(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, u := discovered(t, "a", "b")
		u.hang = make(chan struct{})
		h.open(func(c *mcpbus.Config) { c.Discoverer = u })
		synctest.Wait()
		if err := h.bus.Close(context.Background()); err != nil || u.now != 0 {
			t.Errorf("Close() = %v with %d upstreams still asked", err, u.now)
		}
	})
}

func TestBusSaysWhyAnUpstreamHasToldNoTools(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, u := discovered(t, "m")
		h.register(unpinned("m")) // or an empty list would be what was accepted
		u.fail = fmt.Errorf("post https://m.example.com?key=sesame: refused")
		h.open(func(c *mcpbus.Config) { c.Discoverer = u })
		synctest.Wait()
		if why := h.bus.WhyUnlisted("m"); !strings.Contains(why, "could not be asked") || strings.Contains(why, "sesame") ||
			!strings.Contains(why, "asked again") {
			t.Errorf("the bus says %q", why)
		}
		u.set(func() { u.fail, u.tools["m"] = nil, nil })
		time.Sleep(5 * time.Minute)
		synctest.Wait()
		if why := h.bus.WhyUnlisted("m"); !strings.Contains(why, "lists no tools") {
			t.Errorf("of an empty list the bus says %q", why)
		}
		u.set(func() { u.tools["m"] = []string{"found"} })
		time.Sleep(5 * time.Minute)
		synctest.Wait()
		if why := h.bus.WhyUnlisted("m"); why != "" {
			t.Errorf("of tools that are listed the bus says %q", why)
		}
		u.set(func() { u.fail = fmt.Errorf("away") })
		time.Sleep(5 * time.Minute)
		synctest.Wait()
		if why := h.bus.WhyUnlisted("m"); why != "" {
			t.Errorf("the old tools stay, and the bus says %q", why)
		}
	})
}
