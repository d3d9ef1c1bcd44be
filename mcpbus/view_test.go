package mcpbus

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"sync"
	"testing"

	"github.com/keystile/keystile/internal/toolaccess"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/access"
	"github.com/keystile/keystile/storage/toolplan"
)

// ruled is a snapshot of 100 tools of m, with rules.
func ruled(list ...access.Rule) *snapshot {
	var tools []*tool
	c := &storage.Capability{Member: "m", Owner: "uo"}
	for i := range 100 {
		name := fmt.Sprintf("t%02d", i)
		tools = append(tools, &tool{name: "m__" + name, capability: c, stored: toolplan.Tool{Name: name}, json: []byte(name),
			sum: uint64(i)})
	}
	return newSnapshot(tools, &rules{lists: map[string]access.List{"m": {Member: "m", Rules: list}}, defaultOpen: true})
}

func TestCallersWithTheSameRulesShareAView(t *testing.T) {
	s := ruled(access.Rule{Subject: "role:developer"}, access.Rule{Subject: "user:u1", Tools: []string{"t01"}})
	of := func(who toolaccess.Who) *toolView {
		who = s.mentionedOnly(who)
		return s.toolView(viewKey{who: keyOf(&who)}, &who)
	}
	unknown := of(toolaccess.Who{User: "u5", App: "a"})
	for i := range 5000 {
		if of(toolaccess.Who{User: fmt.Sprint("x", i), App: fmt.Sprint("y", i), Tier: "free"}) != unknown {
			t.Fatal("two who are in no rule have a view each")
		}
	}
	if of(toolaccess.Who{User: "u1"}) == unknown || of(toolaccess.Who{User: "u5", Role: "developer"}) == unknown ||
		of(toolaccess.Who{User: "uo"}) == unknown {
		t.Error("who is in a rule, or owns it, has the view of those who are in none")
	}
	if n := len(s.views.entries); n != 4 {
		t.Errorf("%d views are known, want 4", n)
	}
}

func TestViewsAreBoundedAndTheLatestStay(t *testing.T) {
	s := ruled(access.Rule{Subject: "everyone"})
	view := func(i int) *toolView {
		who := toolaccess.Who{User: strconv.Itoa(i)}
		return s.toolView(viewKey{who: keyOf(&who)}, &who)
	}
	busy := view(-1)
	for i := range 10 * maxViews {
		view(i)
		if view(-1) != busy {
			t.Fatalf("the view that everybody asks for was dropped after %d others", i)
		}
	}
	if len(s.views.entries) != maxViews || s.views.used.Len() != maxViews {
		t.Errorf("%d views are known, %d in line, want %d", len(s.views.entries), s.views.used.Len(), maxViews)
	}
	if again := view(0); again.count != 100 {
		t.Errorf("one that was dropped has %d tools when it is made anew", again.count)
	}
}

func TestViewIsMadeOnceForAllWhoWaitForIt(t *testing.T) {
	s := ruled(access.Rule{Subject: "user:u1", Tools: []string{"t07"}})
	var all sync.WaitGroup
	found := make([]*toolView, 64)
	for i := range found {
		all.Go(func() {
			who := toolaccess.Who{User: "u1"}
			found[i] = s.toolView(viewKey{who: keyOf(&who)}, &who)
			if found[i].count != 1 || !found[i].tools.has(7) {
				t.Errorf("it has %d tools", found[i].count)
			}
		})
	}
	all.Wait()
	for _, v := range found {
		if v != found[0] {
			t.Error("it was made twice")
		}
	}
}

// A token for capabilities that are not there is no token for all.
func TestRestrictionToNothingIsNoneOfAll(t *testing.T) {
	s := ruled()
	x := &exchange{bus: &Bus{}, address: &address{}, snapshot: s, openedTools: openedTools{members: []string{"gone"}}}
	if v := x.toolView(); v.count != 0 {
		t.Errorf("it finds %d tools", v.count)
	}
	x.address = &address{bundle: "gone"}
	x.openedTools = openedTools{all: true}
	if v := x.toolView(); v.count != 0 {
		t.Errorf("in a bundle that is not there it finds %d tools", v.count)
	}
}

func TestPagesOfAViewAreItsToolsInOrder(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	s := ruled()
	for range 300 {
		v := &toolView{tools: newBits(100)}
		var want []string
		for i := range 100 {
			if random.IntN(3) > 0 {
				v.tools.set(i, i+1)
				v.count++
				want = append(want, fmt.Sprintf("t%02d", i))
			}
		}
		var got []string
		size := 1 + random.IntN(40)
		for from := 0; ; {
			s.page(v, from, size) // once to be kept, and once as it was kept
			tools, next := s.page(v, from, size)
			var text []byte
			for _, piece := range tools {
				text = append(text, piece...)
			}
			var names []string
			for name := range splitComma(string(text)) {
				names = append(names, name)
			}
			got = append(got, names...)
			if next == "" {
				break
			}
			if len(names) != size || next != "m__"+names[size-1] {
				t.Fatalf("a page of %d is %v, then %s", size, names, next)
			}
			from = s.after(next)
		}
		if !slices.Equal(got, want) {
			t.Fatalf("pages of %d: %v, want %v", size, got, want)
		}
	}
}

func splitComma(text string) func(func(string) bool) {
	return func(yield func(string) bool) {
		for len(text) >= 3 {
			if !yield(text[:3]) {
				return
			}
			text = text[min(4, len(text)):]
		}
	}
}

func TestRangesOfBits(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	b, want := newBits(300), make([]bool, 300)
	for range 2000 {
		lo, hi, on := random.IntN(300), random.IntN(301), random.IntN(2) == 0
		if on {
			b.set(lo, hi)
		} else {
			b.clear(lo, hi)
		}
		for i := lo; i < hi; i++ {
			want[i] = on
		}
		n, next := 0, -1
		for i := range want {
			if b.has(i) != want[i] {
				t.Fatalf("after %d to %d, %d is %t", lo, hi, i, b.has(i))
			}
			if want[i] {
				n++
				if i >= lo && next < 0 {
					next = i
				}
			}
		}
		if b.count() != n || b.next(lo) != next {
			t.Fatalf("count %d, next %d; want %d and %d", b.count(), b.next(lo), n, next)
		}
	}
}

// Pages that are kept are bounded in bytes.
func TestKeptPagesAreBounded(t *testing.T) {
	c := lru[int, []byte]{limit: 1000}
	for i := range 500 {
		c.getOrPut(i, nil, 1+i%90)
	}
	sum := 0
	for e := c.used.Front(); e != nil; e = e.Next() {
		sum += e.Value.(*lruEntry[int, []byte]).cost
	}
	if sum != c.cost || sum > 1000 || sum < 900 || len(c.entries) != c.used.Len() {
		t.Errorf("%d entries of %d, counted as %d", len(c.entries), sum, c.cost)
	}
	if _, there := c.get(499); !there {
		t.Error("the latest one is not there")
	}
	if c.getOrPut(7, nil, 2000); len(c.entries) != 0 || c.cost != 0 {
		t.Errorf("one that has no room leaves %d", c.cost)
	}
	s := ruled()
	v := &toolView{tools: newBits(100)}
	for i := 0; i < 100; i += 2 {
		v.tools.set(i, i+1)
		v.count++
	}
	s.joined.limit = 1500
	for from := range 100 {
		s.page(v, from, 50)
	}
	if n := len(s.joined.entries); n == 0 || n > 1500/128 {
		t.Errorf("%d pages are kept", n)
	}
}

// The memory of callers is bounded, however many there are.
func TestFactsAreBounded(t *testing.T) {
	f := newFacts(tierMaxAge, func(_ context.Context, id string) (string, error) { return id, nil })
	for i := range 5 * factCapacity {
		if v, err := f.of(t.Context(), strconv.Itoa(i)); err != nil || v != strconv.Itoa(i) {
			t.Fatal(v, err)
		}
	}
	if n := f.known.Len(); n > factCapacity {
		t.Errorf("%d are known", n)
	}
}
