package toolschema

import "github.com/keystile/keystile/internal/toolschema/tree"

// sendable returns what of the declarations of a property does not belong to answers only.
func (p *Projection) sendable(declared []Node) (out []Node) {
	for _, n := range declared {
		if !p.readOnly(n) {
			out = append(out, n)
		}
	}
	if len(out) == 0 && len(declared) > 0 && p.unsent == nil {
		p.unsent = &declared[0]
	}
	return out
}

// AnswerOnly returns the first property that was not shown because it belongs to answers only; ok is
// false if there was none.
func (p *Projection) AnswerOnly() (n Node, ok bool) {
	if p.unsent == nil {
		return Node{}, false
	}
	return *p.unsent, true
}

// readOnly reports a property that belongs to answers only, as it says itself, or what it refers to or
// combines says.
func (p *Projection) readOnly(n Node) bool { return p.marked(n, 0) }

func (p *Projection) marked(n Node, level int) bool {
	v, is := n.Value.(tree.Object)
	if !is || level > maxLevels {
		return false
	}
	if v.True("readOnly") {
		return true
	}
	if _, is := refOf(v); is {
		target, err := p.doc.Follow(n)
		return p.Step() && err == nil && p.marked(target, level+1)
	}
	for i := range list(v, "allOf") {
		if p.Step() && p.marked(n.Get("allOf").At(i), level+1) {
			return true
		}
	}
	return p.everyBranch(n, "oneOf", level) || p.everyBranch(n, "anyOf", level)
}

// everyBranch reports whether all that a choice offers beside null belongs to answers only.
func (p *Projection) everyBranch(n Node, key string, level int) bool {
	branches, _ := n.Get(key).Value.(tree.Array)
	some := false
	for i := range branches {
		if nullType(branches[i]) {
			continue
		}
		if !p.Step() || !p.marked(n.Get(key).At(i), level+1) {
			return false
		}
		some = true
	}
	return some
}
