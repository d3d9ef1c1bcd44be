package mcpbus

import (
	"bytes"
	"cmp"
	"slices"
	"sort"
)

// snapshot is every tool on the bus at one moment. It never changes: a request that began
// with one ends with it.
type snapshot struct {
	tools  []*tool // by name
	byName map[string]*tool
	text   []byte // the tools as they are listed, with a comma after each
	ends   []int  // in text, after each tool and before its comma
}

// newSnapshot sorts and joins tools, whose names are unique.
func newSnapshot(tools []*tool) *snapshot {
	slices.SortFunc(tools, func(a, b *tool) int { return cmp.Compare(a.name, b.name) })
	s := &snapshot{tools: tools, byName: make(map[string]*tool, len(tools)), ends: make([]int, len(tools))}
	size := 0
	for _, t := range tools {
		size += len(t.json) + 1
	}
	s.text = make([]byte, 0, size)
	for i, t := range tools {
		s.byName[t.name] = t
		s.text = append(s.text, t.json...)
		s.ends[i] = len(s.text)
		s.text = append(s.text, ',')
	}
	return s
}

// lists reports whether both list the same.
func (s *snapshot) lists(other *snapshot) bool { return bytes.Equal(s.text, other.text) }

// after returns the index of the first tool after a name, which need not be there any more.
func (s *snapshot) after(name string) int {
	return sort.Search(len(s.tools), func(i int) bool { return s.tools[i].name > name })
}

// span returns the text of tools from to to, exclusive, joined by commas.
func (s *snapshot) span(from, to int) []byte {
	if from == to {
		return nil
	}
	return s.text[s.start(from):s.ends[to-1]]
}

func (s *snapshot) start(i int) int {
	if i == 0 {
		return 0
	}
	return s.ends[i-1] + 1
}
