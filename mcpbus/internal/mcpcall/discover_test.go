package mcpcall

import (
	"strings"
	"testing"
	"time"
)

// Decision 34: what an MCP endpoint lists becomes tools.
func TestToolsOfEveryKindOfUpstreamAreFound(t *testing.T) {
	list := func(cursor string) string {
		switch cursor {
		case "first":
			return `{"tools":[{"name":"add","description":"Adds.","inputSchema":{"type":"object","properties":{"a":{"type":"integer"}}}}],"nextCursor":"p 2/\"","ttlMs":90000}`
		case `p 2/"`:
			return `{"tools":[{"name":"sub.tract","inputSchema":{"type":"object"}}],"nextCursor":null}`
		}
		return `{"tools":[],"nextCursor":"` + cursor + `"}`
	}
	for _, c := range []struct {
		name    string
		u       *upstream
		version string
		walk    string
	}{
		{"modern", &upstream{era: Modern}, modern, "tools/list, tools/list"},
		{"modern, streaming", &upstream{era: Modern, stream: true}, modern, "tools/list, tools/list"},
		{"2025-11-25 with sessions", &upstream{era: Legacy, keeps: true}, "2025-11-25",
			"tools/list, initialize, notifications/initialized, tools/list, tools/list"},
		{"2025-06-18, streaming", &upstream{era: Legacy, keeps: true, stream: true, version: "2025-06-18"}, "2025-06-18",
			"tools/list, initialize, notifications/initialized, tools/list, tools/list"},
		{"2025-03-26 without sessions", &upstream{era: Legacy, version: "2025-03-26"}, "2025-03-26",
			"tools/list, initialize, notifications/initialized, tools/list, tools/list"},
		{"2024-11-05", &upstream{era: Legacy, version: "2024-11-05"}, "2024-11-05",
			"tools/list, initialize, notifications/initialized, tools/list, tools/list"},
	} {
		c.u.list = list
		u := serve(t, c.u)
		cl := client(t, Config{})
		found, err := cl.Discover(t.Context(), u.at())
		if err != nil {
			t.Errorf("%s: Discover() = %v, want no error", c.name, err)
			continue
		}
		if found.Era != u.era || found.Version != c.version || found.TTL != 90*time.Second || len(found.Skipped) != 0 {
			t.Errorf("%s: found %s %s, %v, skipped %v", c.name, found.Era, found.Version, found.TTL, found.Skipped)
		}
		if len(found.Tools) != 2 || found.Tools[0].Name != "add" || found.Tools[0].Description != "Adds." ||
			found.Tools[0].Call != nil ||
			string(found.Tools[0].InputSchema) != `{"properties":{"a":{"type":"integer"}},"type":"object"}` {
			t.Errorf("%s: the tools are %+v", c.name, found.Tools)
		}
		if found.Names["add"] != "add" || found.Names["sub_tract"] != "sub.tract" {
			t.Errorf("%s: the names are %v", c.name, found.Names)
		}
		if got := u.walk(); got != c.walk {
			t.Errorf("%s: asked %s, want %s", c.name, got, c.walk)
		}
		header := u.last().header.Get("MCP-Protocol-Version")
		if wants := c.version >= "2025-06-18"; wants != (header == c.version) || !wants && header != "" {
			t.Errorf("%s: the version header is %q", c.name, header)
		}
	}
}

func TestListIsWholeOrRefused(t *testing.T) {
	tools := func(n int) string {
		return `{"tools":[` + strings.TrimSuffix(strings.Repeat(`7,`, n), ",") + `]`
	}
	for _, c := range []struct {
		name, want string
		config     Config
		list       func(cursor string) string
	}{
		{"one cursor again and again", "one cursor twice", Config{}, func(string) string { return `{"tools":[],"nextCursor":"x"}` }},
		{"a circle of cursors", "one cursor twice", Config{}, func(c string) string {
			return `{"tools":[],"nextCursor":"` + map[string]string{"first": "a", "a": "b", "b": "a"}[c] + `"}`
		}},
		{"too many pages", "more than 3 pages", Config{MaxPages: 3}, func(c string) string { return `{"tools":[],"nextCursor":"` + c + `x"}` }},
		{"too many tools", "more than 5 tools", Config{MaxTools: 5}, func(c string) string { return tools(6) + `}` }},
		{"too many tools on two pages", "more than 5 tools", Config{MaxTools: 5}, func(c string) string {
			if c == "first" {
				return tools(3) + `,"nextCursor":"2"}`
			}
			return tools(3) + `}`
		}},
		{"a huge page", "longer than is read", Config{MaxPage: 1000}, func(string) string { return `{"tools":[],"x":"` + strings.Repeat("x", 1000) + `"}` }},
		{"no tools", "a page needs tools", Config{}, func(string) string { return `{"Tools":[]}` }},
		{"tools that are an object", "a page needs tools", Config{}, func(string) string { return `{"tools":{}}` }},
		{"tools twice", "not an MCP message", Config{}, func(string) string { return `{"resultType":"complete","tools":[],"tools":[]}` }},
		{"a cursor that is a number", "nextCursor that is no text", Config{}, func(string) string { return `{"tools":[],"nextCursor":7}` }},
		{"depth", "not an MCP message", Config{}, func(string) string {
			return `{"tools":[],"x":` + strings.Repeat("[", 80) + strings.Repeat("]", 80) + `}`
		}},
	} {
		for _, stream := range []bool{false, true} {
			u := serve(t, &upstream{era: Modern, list: c.list, stream: stream})
			found, err := client(t, c.config).Discover(t.Context(), u.at())
			if err == nil || !strings.Contains(err.Error(), c.want) || len(found.Tools) != 0 {
				t.Errorf("%s, stream %t: Discover() = %v, %v, want %s", c.name, stream, found.Tools, err, c.want)
			}
		}
	}
}

func TestBytesOfAllPagesAndOfAllToolsAreBounded(t *testing.T) {
	big := strings.Repeat(" ", 800)
	u := serve(t, &upstream{era: Modern, list: func(c string) string { return `{"tools":[],` + big + `"nextCursor":"` + c + `x"}` }})
	if _, err := client(t, Config{MaxPage: 1000}).Discover(t.Context(), u.at()); err == nil ||
		!strings.Contains(err.Error(), "list has more than 4000 bytes") {
		t.Errorf("Discover(pages of 1000 bytes) = %v, want an error", err)
	}
	if n := strings.Count(u.walk(), "tools/list"); n != 5 {
		t.Errorf("asked for %d pages, want none after the one that is too much", n)
	}
	in := newIntake(2000)
	in.size = maxKept - 50
	if err := in.add(map[string]raw{"tools": raw(`[{"name":"x"},{"name":"y"}]`)}); err == nil || !strings.Contains(err.Error(), "tools have more than 16777216 bytes") {
		t.Errorf("add(one tool too many) = %v, want an error", err)
	}
}

func TestEmptyCursorIsOneSince2026(t *testing.T) {
	for era, want := range map[Era]int{Modern: 2, Legacy: 1} {
		u := serve(t, &upstream{era: era, list: func(c string) string {
			if c == "first" {
				return `{"tools":[{"name":"a"}],"nextCursor":""}`
			}
			return `{"tools":[{"name":"b"}]}`
		}})
		found, err := client(t, Config{}).Discover(t.Context(), u.at())
		if err != nil || len(found.Tools) != want {
			t.Errorf("%s: Discover() = %v, %v, want %d tools", era, found.Tools, err, want)
		}
	}
}

func TestTTLIsThatOfTheUpstreamWithinReason(t *testing.T) {
	for text, want := range map[string]time.Duration{
		`600000`: 10 * time.Minute, `6e5`: 10 * time.Minute, `45000.5`: 45 * time.Second, `0`: 30 * time.Second, `29999`: 30 * time.Second,
		`3600001`: time.Hour, `1e300`: time.Hour, `1e999`: 5 * time.Minute, `-1`: 5 * time.Minute, `"600000"`: 5 * time.Minute, `null`: 5 * time.Minute,
	} {
		u := serve(t, &upstream{era: Modern, list: func(string) string { return `{"tools":[],"ttlMs":` + text + `}` }})
		found, err := client(t, Config{}).Discover(t.Context(), u.at())
		if err != nil || found.TTL.Truncate(time.Second) != want {
			t.Errorf("ttlMs %s: %v, %v, want %v", text, found.TTL, err, want)
		}
	}
}

func TestLimitsMayBeReached(t *testing.T) {
	u := serve(t, &upstream{era: Modern, list: func(c string) string {
		next := map[string]string{"first": `"2"`, "2": `"3"`, "3": "null"}[c]
		return `{"tools":[{"name":"t` + c + `"}],"nextCursor":` + next + `}`
	}})
	if found, err := client(t, Config{MaxPages: 3, MaxTools: 3}).Discover(t.Context(), u.at()); err != nil ||
		len(found.Tools) != 3 {
		t.Errorf("Discover() = %+v, %v, want three tools on three pages", found, err)
	}
	before := u.walk()
	if _, err := client(t, Config{MaxPages: 2}).Discover(t.Context(), u.at()); err == nil ||
		strings.TrimPrefix(u.walk(), before) != ", tools/list, tools/list" {
		t.Errorf("Discover(two pages at most) = %v, asked%s, want two pages and an error", err,
			strings.TrimPrefix(u.walk(), before))
	}
	for _, stream := range []bool{false, true} {
		u := serve(t, &upstream{era: Modern, stream: stream})
		r, _ := client(t, Config{}).Call(t.Context(), u.at(), "x", nil)
		for more, isError := range map[int64]bool{0: false, -1: true} {
			if r, err := client(t, Config{MaxAnswer: r.Bytes + more}).Call(t.Context(), u.at(), "x", nil); err != nil ||
				r.IsError != isError {
				t.Errorf("stream %t: Call(%d bytes more than may be) = %s, %v", stream, -more, texts(r), err)
			}
		}
	}
}
