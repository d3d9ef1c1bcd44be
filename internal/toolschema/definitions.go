package toolschema

import (
	"strconv"
	"strings"

	"github.com/keystile/keystile/internal/toolschema/tree"
)

// definitions are the schemas of a foreign tool that refer to themselves. They stay behind
// references, since no number of levels shows them whole; all others are shown in place.
type definitions struct {
	names   map[string]string // by reference; "": it does not lead to itself
	taken   map[string]bool
	waiting []definition
}

type definition struct {
	name   string
	target Node
}

// maxDefinitions bounds those of one tool.
const maxDefinitions = 64

// define returns the name of the definition that a reference leads to, "" if it is to be
// shown in place.
func (p *Projection) define(ref string, target Node) string {
	if p.defs == nil {
		return ""
	}
	name, known := p.defs.names[ref]
	if known {
		return name
	}
	if p.reaches(target.Value, ref, map[string]bool{}) && len(p.defs.waiting) < maxDefinitions {
		name = p.defs.name(ref)
		p.defs.waiting = append(p.defs.waiting, definition{name, target})
	}
	p.defs.names[ref] = name
	return name
}

// reaches reports whether a schema leads to a reference, itself or by others.
func (p *Projection) reaches(v any, ref string, seen map[string]bool) bool {
	if !p.Step() {
		return false
	}
	switch v := v.(type) {
	case tree.Array:
		for _, item := range v {
			if p.reaches(item, ref, seen) {
				return true
			}
		}
	case tree.Object:
		if to, is := refOf(v); is {
			if to == ref || seen[to] {
				return to == ref
			}
			seen[to] = true
			target, err := p.doc.Follow(Node{Value: v})
			return err == nil && p.reaches(target.Value, ref, seen)
		}
		for _, m := range v {
			if p.reaches(m.Value, ref, seen) {
				return true
			}
		}
	}
	return false
}

// name returns the name of a definition: the end of its reference, as far as it is plain.
func (d *definitions) name(ref string) string {
	base := strings.Map(func(r rune) rune {
		if r < 0x80 && (letterOrDigit(byte(r)) || strings.ContainsRune("_.-", r)) {
			return r
		}
		return -1
	}, ref[strings.LastIndexByte(ref, '/')+1:])
	if base = base[:min(len(base), 64)]; base == "" {
		base = "root"
	}
	name := base
	for n := 2; d.taken[name]; n++ {
		name = base + "_" + strconv.Itoa(n)
	}
	d.taken[name] = true
	return name
}

// definitions shows what was referred to, and what that refers to in turn.
func (p *Projection) definitions() (out tree.Object) {
	for i := 0; p.defs != nil && i < len(p.defs.waiting) && p.over == nil; i++ {
		d := p.defs.waiting[i]
		schema, _ := p.schema(d.target, 1)
		out = append(out, tree.Member{Key: d.name, Value: schema})
	}
	return tree.NewObject(out...)
}
