package toolschema

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/keystile/keystile/internal/toolschema/tree"
)

// Limits bound what one tool may show and cost.
type Limits struct {
	Depth      int // levels below an argument whose structure and references are shown
	Nodes      int // schemas shown when Depth > 0
	Properties int // arguments
	Bytes      int // of what is shown, of which the caller refuses more; 0: any number
}

// maxSteps bounds the work for one tool, whether it leads to anything shown or not: the
// pieces of a document refer to each other, so a small one can ask for endless work.
const maxSteps = 20_000

// Projection is the view of a document for one tool. It reports the parts that it leaves out.
type Projection struct {
	budget
	doc    *Document
	report func(n Node, reason string)

	merged     int
	open       []string     // the references that are being expanded
	unsent     *Node        // the first property that belongs to answers only
	unexpanded bool         // a reference is shown by its name because it is nested
	defs       *definitions // nil: what refers to itself is shown as a placeholder
}

// budget bounds the work for one tool. Values are looked at within it.
type budget struct {
	limits       Limits
	steps, nodes int
	over         error // the limit that was passed
}

// Projection returns a fresh view.
func (d *Document) Projection(l Limits, report func(n Node, reason string)) *Projection {
	return &Projection{budget: budget{limits: l}, doc: d, report: report}
}

// Err returns the limit that was passed, if one was. Nothing the view gave may be used then.
func (b *budget) Err() error { return b.over }

// Steps returns the work done so far, for those who bound the sum over many tools.
func (b *budget) Steps() int { return b.steps }

// Unexpanded reports whether a reference is shown by its name alone for being nested.
func (p *Projection) Unexpanded() bool { return p.unexpanded }

// Step counts a step of work and reports whether another may be taken.
func (b *budget) Step() bool {
	if b.steps++; b.steps > maxSteps && b.over == nil {
		b.over = fmt.Errorf("it takes more than %d steps to read", maxSteps)
	}
	return b.over == nil
}

// Schema returns what is shown of a schema. It is not ok if nothing can be: what stands
// there is no schema, or one that accepts nothing.
func (p *Projection) Schema(n Node) (out tree.Object, ok bool) { return p.schema(n, 0) }

func (p *Projection) schema(n Node, level int) (out tree.Object, ok bool) {
	if !p.Step() || !p.node() {
		return nil, false
	}
	switch v := n.Value.(type) {
	case tree.Object:
		if ref, is := refOf(v); is {
			return p.reference(n, v, ref, level)
		}
		return p.keywords(n, v, level), true
	case bool:
		if v {
			return nil, true
		}
		p.report(n, "a schema that accepts nothing")
	default:
		p.report(n, "not a schema")
	}
	return nil, false
}

func (b *budget) node() bool {
	if b.limits.Depth == 0 {
		return true
	}
	if b.nodes++; b.nodes > b.limits.Nodes && b.over == nil {
		b.over = fmt.Errorf("it expands to more than %d schemas", b.limits.Nodes)
	}
	return b.over == nil
}

// reference shows what a nested reference leads to, or a description in its place: the
// target may be anything, so it gets no type, and may be required, so it stays.
func (p *Projection) reference(n Node, v tree.Object, ref string, level int) (tree.Object, bool) {
	if level >= p.limits.Depth {
		p.unexpanded = true
		return placeholder(v, ref), true
	}
	if slices.Contains(p.open, ref) {
		return placeholder(v, ref), true
	}
	target, err := p.doc.Follow(n)
	if err != nil {
		p.report(n, err.Error())
		return placeholder(v, ref), true
	}
	if name := p.define(ref, target); name != "" {
		return Described(tree.Object{{Key: "$ref", Value: "#/$defs/" + name}}, v.Text("description")), true
	}
	p.open = append(p.open, ref)
	out, ok := p.schema(target, level)
	p.open = p.open[:len(p.open)-1]
	return Described(out, v.Text("description")), ok
}

// placeholder shows a reference by the name of what it leads to, unless it is described.
func placeholder(v tree.Object, ref string) tree.Object {
	return Described(Described(nil, "nested: "+refName(ref)+" (not expanded)"), v.Text("description"))
}

// refName returns the last part of a reference, which is what people call the schema.
func refName(ref string) string {
	name := unescape.Replace(ref[strings.LastIndexByte(ref, '/')+1:])
	if plain, err := url.PathUnescape(name); err == nil {
		name = plain
	}
	if name = strings.TrimLeft(name, "#"); name == "" {
		return "the schema itself"
	}
	return name
}

// Described returns a schema with another description, the same if that is empty.
func Described(out tree.Object, text string) tree.Object {
	if text = Text(text); text == "" {
		return out
	}
	return merge(out, tree.Object{{Key: "description", Value: text}})
}

// merge returns what both schemas say, and what the second says where they differ.
func merge(a, b tree.Object) tree.Object {
	if len(a) == 0 {
		return b
	}
	if len(b) == 0 {
		return a
	}
	out := slices.Concat(a, b)
	for i := range out[len(a):] {
		m := &out[len(a)+i]
		switch old := a.Get(m.Key).(type) {
		case tree.Object:
			if props, is := m.Value.(tree.Object); is && m.Key == "properties" {
				m.Value = merge(old, props)
			}
		case tree.Array:
			if names, is := m.Value.(tree.Array); is && m.Key == "required" {
				m.Value = sortedNames(append(slices.Clone(old), names...))
			}
		}
	}
	return tree.NewObject(out...)
}

func sortedNames(names tree.Array) tree.Array {
	slices.SortFunc(names, func(a, b any) int { return compareText(a, b) })
	return slices.CompactFunc(names, func(a, b any) bool { return a == b })
}

func compareText(a, b any) int {
	x, _ := a.(string)
	y, _ := b.(string)
	switch {
	case x < y:
		return -1
	case x > y:
		return 1
	}
	return 0
}
