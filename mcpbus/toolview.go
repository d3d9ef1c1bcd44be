package mcpbus

import (
	"bytes"
	"strconv"
	"strings"
	"sync"

	"github.com/keystile/keystile/internal/toolaccess"
	"github.com/keystile/keystile/storage/access"
)

const (
	// maxViews bounds the cached views of one snapshot. A view has a bit for each tool, and its key:
	// with the 100,000 tools of a full bus, all views with the longest possible keys take 24 MB.
	maxViews = 1024
	// maxJoined bounds, in bytes, the cached pages of a snapshot whose tools are not adjacent.
	maxJoined = 32 << 20
	// manyPieces is the number of pieces from which on a page is cached.
	manyPieces = 16
)

// toolView holds the tools that a caller sees on the bus.
//
// A view is a bit set that is made once for all callers that the rules treat alike, and cached with its
// snapshot. A page of a view is a slice of the snapshot's own text; where its tools are not adjacent it is
// joined once and cached. So a filtered list costs what an unfiltered one does.
type toolView struct {
	tools      bits
	count      int
	oneRequest bool // for one request: nothing of it is cached

	once, summed sync.Once
	sum          uint64
}

// viewKey identifies a view. Callers that the access lists treat alike have the same key: what
// no rule mentions is "" (see snapshot.mentionedOnly).
type viewKey struct {
	who         subjectsKey
	openedTools string // what the token is for, see openedTools.key; "": everything
	bundle      string // "": the whole bus
}

// subjectsKey is a toolaccess.Who that can be compared.
type subjectsKey struct {
	user, role, app, tier, owner string
	groups                       string // with when each was made, which rules ask for too
	manages                      string
}

func keyOf(who *toolaccess.Who) subjectsKey {
	k := subjectsKey{user: who.User, role: who.Role, app: who.App, tier: who.Tier, owner: who.Owner,
		manages: strings.Join(who.Manages, " ")}
	if len(who.Groups)+len(who.OwnerGroups) > 0 {
		var text []byte
		for _, all := range [2][]access.Group{who.Groups, who.OwnerGroups} {
			for _, g := range all {
				text = append(strconv.AppendInt(append(append(text, g.Name...), '@'), g.Since.UnixNano(), 10), ' ')
			}
			text = append(text, '/')
		}
		k.groups = string(text)
	}
	return k
}

// toolView returns the view of a key and of what the key was made of, cached if possible. Of concurrent requests for a
// new view one makes it, and the others wait.
func (s *snapshot) toolView(key viewKey, who *toolaccess.Who) *toolView {
	v, there := s.views.get(key)
	if !there {
		v = s.views.getOrPut(key, new(toolView), 1)
	}
	v.once.Do(func() { s.fill(v, key, who) })
	return v
}

// fill computes the tools of a view.
func (s *snapshot) fill(v *toolView, key viewKey, who *toolaccess.Who) {
	v.tools = newBits(len(s.tools))
	for _, a := range s.accesses {
		a.mark(who, v.tools)
	}
	if key.openedTools != "" {
		v.tools.and(s.within(key.openedTools))
	}
	switch in, there := s.bundles[key.bundle]; {
	case key.bundle == "":
	case there:
		v.tools.and(in)
	default: // it was deleted
		v.tools.clear(0, len(s.tools))
	}
	v.count = v.tools.count()
}

// filter returns a view of the tools for which keep is true.
func (v *toolView) filter(keep func(i int) bool) *toolView {
	less := &toolView{tools: append(bits(nil), v.tools...), oneRequest: true}
	for i := v.tools.next(0); i >= 0; i = v.tools.next(i + 1) {
		if !keep(i) {
			less.tools.clear(i, i+1)
		}
	}
	less.count = less.tools.count()
	return less
}

// digest returns a hash of the tools that a view lists.
func (v *toolView) digest(s *snapshot) uint64 {
	v.summed.Do(func() {
		for i := v.tools.next(0); i >= 0; i = v.tools.next(i + 1) {
			v.sum = v.sum*1099511628211 + s.tools[i].sum
		}
		v.sum += uint64(v.count)
	})
	return v.sum
}

// joinedKey identifies a page of a view.
type joinedKey struct {
	toolView *toolView
	from, n  int
}

type joinedPage struct {
	tools []byte
	next  string
}

// page returns up to n encoded tools from an index on, and the cursor of the next page. Adjacent
// tools are one piece.
func (s *snapshot) page(v *toolView, from, n int) (tools pieces, next string) {
	if v.count == len(s.tools) {
		return s.fullPage(from, n)
	}
	if v.oneRequest {
		return s.scan(v, from, n)
	}
	key := joinedKey{v, from, n}
	if p, there := s.joined.get(key); there {
		return pieces{p.tools}, p.next
	}
	tools, next = s.scan(v, from, n)
	if len(tools) > manyPieces {
		whole := bytes.Join(tools, nil)
		s.joined.getOrPut(key, joinedPage{whole, next}, len(whole)+128)
		tools = pieces{whole}
	}
	return tools, next
}

// scan assembles a page that is not cached.
func (s *snapshot) scan(v *toolView, from, n int) (tools pieces, next string) {
	lo, hi, size := 0, 0, 0 // the current piece, and the bytes on the page
	for i := v.tools.next(from); ; i = v.tools.next(i + 1) {
		var more int
		if i >= 0 {
			more = s.ends[i] - s.start(i) + 1
		}
		over := i >= 0 && hi > 0 && (n == 0 || size+more > maxPage)
		if i < 0 || over {
			if over {
				next = s.tools[hi-1].name
			}
			if hi > 0 {
				tools = append(tools, s.span(lo, hi))
			}
			return tools, next
		}
		if hi == 0 {
			lo = i
		} else if i != hi {
			tools = append(tools, s.text[s.start(lo):s.ends[hi-1]+1]) // with its comma
			lo = i
		}
		hi = i + 1
		n--
		size += more
	}
}

// fullPage returns a page of the whole snapshot.
func (s *snapshot) fullPage(from, n int) (tools pieces, next string) {
	to := min(from+n, len(s.tools))
	for to > from+1 && s.ends[to-1]-s.start(from) > maxPage {
		to--
	}
	if to < len(s.tools) {
		next = s.tools[to-1].name
	}
	return pieces{s.span(from, to)}, next
}
