package mcpbus_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/keystile/keystile/mcpbus"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/toolplan"
)

func TestListIsSortedAndHoldsWhatIsPublished(t *testing.T) {
	h := emptyFixture(t)
	h.register(capability("b", "https://b.example.com"), rest("get", "two"), rest("get", "One"))
	h.register(capability("b-c", "https://c.example.com"), rest("get", "x"))
	hidden := capability("a", "https://a.example.com")
	hidden.Publish = false
	h.register(hidden, rest("get", "secret"))
	h.open()
	want := []string{"b-c__x", "b__One", "b__two"}
	if names, _ := h.walk(); !slices.Equal(names, want) {
		t.Errorf("the list is %v, want %v", names, want)
	}
	if a := h.legacy("tools/call", `{"name":"a__secret"}`); a.code() != -32602 {
		t.Errorf("what is not published is called: %s", a.text)
	}
}

func TestToolIsListedAsClientsReadIt(t *testing.T) {
	h := emptyFixture(t)
	plain := rest("post", "post")
	plain.Description = "Says <hello> & \"bye\"\u2028"
	byName := toolplan.Tool{Name: "remote", Description: "d",
		InputSchema: json.RawMessage("{\n \"type\": \"object\", \"x\": 12345678901234567890 }")}
	reads := toolplan.Tool{Name: "remote_reads", Description: "d", InputSchema: json.RawMessage(`{"type":"object"}`), ReadOnly: true}
	yes, no := true, false
	told := toolplan.Tool{Name: "remote_told", Description: "d", InputSchema: json.RawMessage(`{"type":"object"}`),
		Title: "T\u202e", ReadOnly: true,
		Annotations: &toolplan.Annotations{Title: "A", ReadOnly: &yes, Destructive: &no, Idempotent: &no,
			OpenWorld: &no},
		Icons: []toolplan.Icon{{Source: "data:image/png;base64,AA==", Type: "image/png", Sizes: []string{"any"},
			Theme: "dark"}}}
	h.register(capability("m", "https://m.example.com"), plain, rest("get", "get"), rest("put", "put"),
		rest("delete", "delete"), byName, reads, told)
	h.open()
	const schema = `"inputSchema":{"type":"object","properties":{"id":{"type":"integer"}}}`
	want := `{"tools":[` +
		`{"name":"m__delete","description":"calls delete",` + schema + `,"annotations":{"destructiveHint":true,"idempotentHint":true,"openWorldHint":true}},` +
		`{"name":"m__get","description":"calls get",` + schema + `,"annotations":{"readOnlyHint":true,"openWorldHint":true}},` +
		`{"name":"m__post","description":"Says <hello> & \"bye\"",` + schema + `,"annotations":{"openWorldHint":true}},` +
		`{"name":"m__put","description":"calls put",` + schema + `,"annotations":{"idempotentHint":true,"openWorldHint":true}},` +
		`{"name":"m__remote","description":"d","inputSchema":{"type":"object","x":12345678901234567890}},` +
		`{"name":"m__remote_reads","description":"d","inputSchema":{"type":"object"},` +
		`"annotations":{"readOnlyHint":true,"openWorldHint":true}},` +
		`{"name":"m__remote_told","title":"T","description":"d","inputSchema":{"type":"object"},` +
		`"icons":[{"src":"data:image/png;base64,AA==","mimeType":"image/png","sizes":["any"],"theme":"dark"}],` +
		`"annotations":{"title":"A","readOnlyHint":true,"destructiveHint":false,"idempotentHint":false,` +
		`"openWorldHint":false}}]`
	if a := h.legacy("tools/list", ""); a.text != `{"jsonrpc":"2.0","id":1,"result":`+want+`}}` {
		t.Errorf("legacy: %s", a.text)
	}
	want += `,"resultType":"complete","ttlMs":5000,"cacheScope":"private","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"Keystile","version":"0.0.0"}}}`
	if a := h.modern("tools/list", ""); a.text != `{"jsonrpc":"2.0","id":1,"result":`+want+`}` {
		t.Errorf("modern: %s", a.text)
	}
}

func TestEmptyBusListsNothing(t *testing.T) {
	h := emptyFixture(t)
	h.open()
	if a := h.legacy("tools/list", ""); a.text != `{"jsonrpc":"2.0","id":1,"result":{"tools":[]}}` {
		t.Errorf("the list is %s", a.text)
	}
}

func TestPagesFollowEachOther(t *testing.T) {
	for size, pages := range map[int]int{1: 25, 7: 4, 24: 2, 25: 1, 26: 1, 0: 1} {
		h := emptyFixture(t)
		want := h.fill("m", 25)
		h.open(func(c *mcpbus.Config) { c.PageSize = size })
		if names, n := h.walk(); !slices.Equal(names, want) || n != pages {
			t.Errorf("by %d it is %d pages of %d tools, want %d of 25", size, n, len(names), pages)
		}
	}
}

// fill registers n tools, and returns their names on the bus in order.
func (h *fixture) fill(member string, n int) (names []string) {
	h.Helper()
	tools := make([]toolplan.Tool, n)
	for i := range tools {
		tools[i] = rest("get", fmt.Sprintf("tool%05d", i))
		names = append(names, member+"__"+tools[i].Name)
	}
	h.register(capability(member, "https://"+member+".example.com"), tools...)
	return names
}

func TestPageIsBoundedInBytes(t *testing.T) {
	h := emptyFixture(t)
	tools := make([]toolplan.Tool, 45)
	for i := range tools {
		tools[i] = rest("get", fmt.Sprintf("t%02d", i))
		tools[i].Description = strings.Repeat("x", 100_000)
	}
	h.register(capability("m", "https://m.example.com"), tools...)
	for name, visible := range map[string]func(storage.Caller, storage.Capability, toolplan.Tool) bool{
		"as it stands": nil, "filtered": func(storage.Caller, storage.Capability, toolplan.Tool) bool { return true },
	} {
		h.open(func(c *mcpbus.Config) { c.Visible = visible })
		first := h.legacy("tools/list", "")
		if len(first.text) > 4<<20+100 || len(first.text) < 4<<20-200_000 {
			t.Errorf("%s: the first page has %d bytes, want nearly 4 MiB", name, len(first.text))
		}
		next, _ := first.at("result.nextCursor").(string)
		rest := h.legacy("tools/list", `{"cursor":"`+next+`"}`)
		if n := len(first.names()) + len(rest.names()); n != 45 || rest.at("result.nextCursor") != nil {
			t.Errorf("%s: two pages have %d tools, want all 45", name, n)
		}
	}
}

func TestBusIsBounded(t *testing.T) {
	h := emptyFixture(t)
	h.fill("a", 5)
	h.fill("b", 6)
	h.fill("c", 5)
	h.open(func(c *mcpbus.Config) { c.MaxTools = 10 })
	names, _ := h.walk()
	if len(names) != 10 || slices.ContainsFunc(names, func(n string) bool { return n[0] == 'b' }) {
		t.Errorf("with room for 10 tools it lists %v, want those of a and c", names)
	}
}

func TestListHidesWhatACallerMayNotSee(t *testing.T) {
	h := emptyFixture(t)
	h.fill("m", 30)
	h.open(func(c *mcpbus.Config) {
		c.PageSize = 5
		c.Visible = func(who storage.Caller, p storage.Capability, tool toolplan.Tool) bool {
			return who.UserID != "" && p.Member == "m" || strings.HasSuffix(tool.Name, "0")
		}
	})
	names, pages := h.walk()
	if want := []string{"m__tool00000", "m__tool00010", "m__tool00020"}; !slices.Equal(names, want) || pages != 1 {
		t.Errorf("the application sees %v on %d pages, want %v on one", names, pages, want)
	}
	if names, pages := h.walk("Authorization", "Bearer user"); len(names) != 30 || pages != 6 {
		t.Errorf("the user sees %d tools on %d pages, want 30 on 6", len(names), pages)
	}
	hidden, absent := h.legacy("tools/call", `{"name":"m__tool00001"}`), h.legacy("tools/call", `{"name":"m__none"}`)
	if hidden.text != absent.text || hidden.code() != -32602 {
		t.Errorf("a hidden tool = %s, an absent one = %s; want no difference", hidden.text, absent.text)
	}
	if a := h.legacy("tools/call", `{"name":"m__tool00001"}`, "Authorization", "Bearer user"); a.code() != 0 {
		t.Errorf("who sees a tool cannot call it: %s", a.text)
	}
	if charges, events := h.meter.bill(); len(charges) != 1 || len(events) != 1 {
		t.Errorf("charged %v, noted %v; want the one call", charges, events)
	}
}

// Decision 36: registering again replaces all at once.
func TestListIsNeverHalfOld(t *testing.T) {
	h := emptyFixture(t)
	tools := func(generation string) (out []toolplan.Tool) {
		for i := range 50 {
			tool := rest("get", fmt.Sprintf("%s%02d", generation, i))
			out = append(out, tool)
		}
		return out
	}
	h.fill("always", 20)
	h.register(capability("m", "https://m.example.com"), tools("a")...)
	h.open(func(c *mcpbus.Config) { c.PageSize = 7 })
	done := make(chan struct{})
	var all sync.WaitGroup
	for range 2 {
		all.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				names, _ := h.walk()
				if n := len(slices.DeleteFunc(slices.Clone(names),
					func(n string) bool { return !strings.HasPrefix(n, "always__") })); n != 20 {
					t.Errorf("a walk found %d of the 20 tools that never change", n)
				}
				if !slices.IsSorted(names) || len(slices.Compact(slices.Clone(names))) != len(names) {
					t.Errorf("a walk is out of order or repeats itself: %v", names)
				}
				if a := h.post(legacyBody("tools/list", `{"cursor":"l__z"}`)); a.status == 200 {
					first := a.names()
					if slices.ContainsFunc(first, func(n string) bool { return n[:4] != first[0][:4] }) {
						t.Errorf("a page holds old and new: %v", first)
					}
				}
			}
		})
	}
	for i := range 20 {
		h.register(capability("m", "https://m.example.com"), tools(string(rune('a'+i%2)))...)
		h.reload()
	}
	close(done)
	all.Wait()
}
