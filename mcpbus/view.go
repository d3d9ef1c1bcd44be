package mcpbus

import (
	"bytes"
	"strings"
	"sync"

	"github.com/keystile/keystile/internal/toolaccess"
)

const (
	// maxViews bounds the views of one snapshot. One is a bit for each tool, and its key: at
	// the 100,000 tools of a full bus, all views with the longest keys there can be are 24 MB.
	maxViews = 1024
	// maxJoined bounds the pages of a snapshot that are kept because their tools do not stand
	// side by side, in bytes.
	maxJoined = 32 << 20
	// manyPieces is how many pieces make a page worth being kept.
	manyPieces = 16
)

// view is the tools that somebody finds on the bus.
type view struct {
	tools      bits
	count      int
	oneRequest bool // of one request: nothing of it is worth being kept

	once, summed sync.Once
	sum          uint64
}

// viewKey is what a view depends on. Callers about whom the access lists say the same have
// the same: what no rule mentions is "" (see snapshot.known).
type viewKey struct {
	who     toolaccess.Who
	members string // those that the token is for, each behind a space; "": no restriction
	bundle  string // "": the whole bus
}

// view returns what is found with a key. Of many who ask for a new one at the same time one
// makes it, and the others wait for that.
func (s *snapshot) view(key viewKey) *view {
	v, there := s.views.get(key)
	if !there {
		v = s.views.getOrPut(key, new(view), 1)
	}
	v.once.Do(func() { s.fill(v, key) })
	return v
}

// fill finds the tools of a view.
func (s *snapshot) fill(v *view, key viewKey) {
	v.tools = newBits(len(s.tools))
	if key.members == "" {
		for _, a := range s.accesses {
			a.mark(&key.who, v.tools)
		}
	} else {
		for name := range strings.FieldsSeq(key.members) {
			if a := s.access[name]; a != nil {
				a.mark(&key.who, v.tools)
			}
		}
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

// filter is a view without the tools that keep does not want.
func (v *view) filter(keep func(i int) bool) *view {
	less := &view{tools: append(bits(nil), v.tools...), oneRequest: true}
	for i := v.tools.next(0); i >= 0; i = v.tools.next(i + 1) {
		if !keep(i) {
			less.tools.clear(i, i+1)
		}
	}
	less.count = less.tools.count()
	return less
}

// digest is a number of what a view lists: another one if that is something else.
func (v *view) digest(s *snapshot) uint64 {
	v.summed.Do(func() {
		for i := v.tools.next(0); i >= 0; i = v.tools.next(i + 1) {
			v.sum = v.sum*1099511628211 + s.tools[i].sum
		}
		v.sum += uint64(v.count)
	})
	return v.sum
}

// joinedKey is a page of a view.
type joinedKey struct {
	view    *view
	from, n int
}

type joinedPage struct {
	tools []byte
	next  string
}

// page returns up to n tools from an index on, as they stand in the snapshot, and the cursor
// of the next page. Tools that stand side by side are one piece.
func (s *snapshot) page(v *view, from, n int) (tools pieces, next string) {
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

// scan is page where it is not kept.
func (s *snapshot) scan(v *view, from, n int) (tools pieces, next string) {
	lo, hi, size := 0, 0, 0 // the piece that is being made, and the bytes on the page
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

// fullPage is page where everything is found.
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
