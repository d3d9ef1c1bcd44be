package mcpbus

import (
	"strconv"

	"github.com/keystile/keystile/internal/toolaccess"
	"github.com/keystile/keystile/mcpbus/internal/rpc"
	"github.com/keystile/keystile/storage/toolplan"
)

// maxPage bounds the tools on a page in bytes; a single tool may have more.
const maxPage = 4 << 20

// list handles tools/list. Tools that the caller may not use are left out before pages are cut,
// so that no page is short and no cursor reveals them. The cursor is the last name of a page, so
// it never expires.
func (x *exchange) list(m *rpc.Message) (pieces, *rpc.Error) {
	s := x.snapshot
	from := 0
	if m.Params.Get("cursor") != nil {
		cursor, ok := m.Params.Text("cursor")
		if !ok || !isCursor(cursor) {
			return nil, badCursor
		}
		from = s.after(cursor)
	}
	tools, next := s.page(x.toolView(), from, x.bus.c.PageSize)
	out := append(make(pieces, 0, len(tools)+4), []byte(`{"tools":[`)) // with capacity for what surrounds it
	return append(append(out, tools...), x.tail(next)), nil
}

// isCursor reports whether a text can be a cursor of a list: "", its beginning, or the name of a
// tool, whether or not that tool exists.
//
// A cursor is the last name of its page. It needs no secret: names that a caller may not see never get into
// one, and a made-up one finds nothing that is not listed.
func isCursor(text string) bool {
	_, _, isTool := toolplan.SplitName(text)
	return text == "" || isTool && isName(text)
}

// toolView returns the tools that the caller sees.
func (x *exchange) toolView() *toolView {
	s := x.snapshot
	v := s.everything
	if s.strict || !x.openedTools.all || x.address.bundle != "" {
		key := viewKey{bundle: x.address.bundle}
		who := toolaccess.Who{}
		if s.strict {
			who = s.mentionedOnly(x.who)
			key.who = keyOf(&who)
		}
		if !x.openedTools.all {
			key.openedTools = x.openedTools.key(s)
		}
		v = s.toolView(key, &who)
	}
	if visible := x.bus.c.Visible; visible != nil {
		v = v.filter(func(i int) bool { return visible(x.caller, *s.tools[i].capability, s.tools[i].stored) })
	}
	return v
}

// tail returns the end of the list. Callers may see different tools, so no proxy may cache a page.
func (x *exchange) tail(next string) []byte {
	out := append(make([]byte, 0, 256), ']')
	if next != "" {
		out = append(out, `,"nextCursor":"`...)
		out = append(out, next...) // a name needs no escape
		out = append(out, '"')
	}
	if x.modern {
		out = append(out, `,"resultType":"complete","ttlMs":`...)
		out = strconv.AppendInt(out, x.bus.ttl(), 10)
		out = append(out, `,"cacheScope":"private"`...)
	}
	return append(x.appendMeta(out, nil), '}')
}
