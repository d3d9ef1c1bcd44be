package mcpbus

import (
	"strconv"

	"github.com/keystile/keystile/mcpbus/internal/rpc"
)

// maxPage bounds the tools on a page in bytes; a single tool may have more.
const maxPage = 4 << 20

// list is tools/list. What the caller may not see is left out before pages are cut, so that
// no page is short and no cursor tells of it. The cursor is the last name of a page: it is
// good for as long as somebody wants, whatever has come and gone.
func (x *exchange) list(m *rpc.Message) (pieces, *rpc.Error) {
	s := x.bus.snapshot.Load()
	from := 0
	if m.Params.Get("cursor") != nil {
		cursor, ok := m.Params.Text("cursor")
		if !ok || !isName(cursor) {
			return nil, badCursor
		}
		from = s.after(cursor)
	}
	page := x.bus.page
	if x.bus.c.Visible != nil {
		page = x.visiblePage
	}
	tools, next := page(s, from)
	return pieces{[]byte(`{"tools":[`), tools, x.bus.tail(next, x.modern)}, nil
}

// page returns the tools from an index on, as they stand in the snapshot, and the cursor
// of the next page.
func (b *Bus) page(s *snapshot, from int) (tools []byte, next string) {
	to := min(from+b.c.PageSize, len(s.tools))
	for to > from+1 && s.ends[to-1]-s.start(from) > maxPage {
		to--
	}
	if to < len(s.tools) {
		next = s.tools[to-1].name
	}
	return s.span(from, to), next
}

// visiblePage is page for callers that do not see everything.
func (x *exchange) visiblePage(s *snapshot, from int) (tools []byte, next string) {
	n, last := 0, ""
	for _, t := range s.tools[from:] {
		if !x.sees(t) {
			continue
		}
		if n == x.bus.c.PageSize || n > 0 && len(tools)+len(t.json) >= maxPage {
			return tools, last
		}
		if n > 0 {
			tools = append(tools, ',')
		}
		tools = append(tools, t.json...)
		n, last = n+1, t.name
	}
	return tools, ""
}

func (x *exchange) sees(t *tool) bool {
	visible := x.bus.c.Visible
	return visible == nil || visible(x.caller, *t.capability, t.stored)
}

// tail ends the list. Callers may see different tools, so nothing between may keep a page.
func (b *Bus) tail(next string, modern bool) []byte {
	out := append(make([]byte, 0, 256), ']')
	if next != "" {
		out = append(out, `,"nextCursor":"`...)
		out = append(out, next...) // a name needs no escape
		out = append(out, '"')
	}
	if modern {
		out = append(out, `,"resultType":"complete","ttlMs":`...)
		out = strconv.AppendInt(out, b.ttl(), 10)
		out = append(out, `,"cacheScope":"private","_meta":`...)
		out = append(out, b.meta...)
	}
	return append(out, '}')
}
