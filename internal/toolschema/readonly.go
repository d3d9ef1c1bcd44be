package toolschema

import "github.com/keystile/keystile/internal/toolschema/tree"

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
