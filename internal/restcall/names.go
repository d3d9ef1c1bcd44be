package restcall

import (
	"slices"
	"strings"
)

// naming is one place of a request that is being written.
type naming struct {
	plan   *Plan
	c      *complaints
	held   *holders // by the plan
	others *holders // by the upstream's base URL and credential
	given  *holders // by members in this request; nil: those of one argument alone can be names
}

// member reports whether a member of an argument may have a name, and complains otherwise.
func (n *naming) member(arg int, name string) bool {
	for _, among := range []*holders{n.held, n.others, n.given} {
		if by := among.other(name, holder(arg)); by != byNobody {
			n.clash(arg, name, by)
			return false
		}
	}
	if n.given != nil {
		n.given.hold(name, holder(arg))
	}
	return true
}

func (n *naming) clash(arg int, name string, by holder) {
	own, name := n.plan.args[arg].name, clip(name, 64)
	switch {
	case by == byUpstream:
		n.c.add("argument %q must not set %q: the tool's upstream fixes it", own, name)
	case by == byCredential:
		n.c.add("argument %q must not set %q: the upstream's credential is sent there", own, name)
	case by >= 0:
		n.c.add("argument %q must not have the member %q, which is for the argument %q", own, name, n.plan.args[by].name)
	default:
		n.c.add("argument %q must not have the member %q, which is for other arguments", own, name)
	}
}

// names are the names of one place in a plan.
type names struct {
	holders
	spreading int // how many arguments have members that are names
}

// named is an argument in a place where it has a name.
type named struct {
	name    string
	arg     int
	spreads bool // its members are names beside it
	nests   bool // its members are names below its own
}

// namedBy returns an argument of a name and a style. One whose schema admits no object has no members.
func (p *Plan) namedBy(name string, arg int, style string, explode bool) named {
	s := p.args[arg].schema
	object := s == nil || len(s.types) == 0 || slices.Contains(s.types, "object")
	deep := style == "deepObject"
	return named{name, arg, object && explode && !deep, object && deep}
}

// namesOf returns the names of one place; more says that the members of one more argument are names there.
// They are of no use where no member is a name.
func (p *Plan) namesOf(all []named, more bool) (n names) {
	if more {
		n.spreading++
	} else if !slices.ContainsFunc(all, func(a named) bool { return a.spreads || a.nests }) {
		return n
	}
	for _, a := range all {
		n.hold(a.name, holder(a.arg))
		if a.spreads {
			n.spreading++
			n.holdMembers(p.args[a.arg].schema, a.arg)
		}
	}
	return n
}

// naming returns the place for one request.
func (n *names) naming(p *Plan, c *complaints) *naming {
	in := &naming{plan: p, c: c, held: &n.holders}
	if n.spreading > 1 {
		in.given = &holders{}
	}
	return in
}

// holdMembers holds the names of the members that a schema names.
func (n *names) holdMembers(s *schema, arg int) {
	if s == nil {
		return
	}
	for name := range s.properties {
		n.hold(name, holder(arg))
	}
	for _, part := range slices.Concat(s.anyOf, s.allOf) {
		n.holdMembers(part, arg)
	}
}

// holdNames holds the names of every place of a plan that has been read.
func (p *Plan) holdNames() {
	inQuery, more := p.named(p.query), false
	if b := p.body; b != nil && b.kind == bodyJSON {
		b.names = p.namesOf(b.named(p), b.more >= 0)
	} else if b != nil {
		inQuery = append(inQuery, b.named(p)...)
		more = b.more >= 0 || b.whole >= 0 && b.kind != bodyText
	}
	p.names = p.namesOf(inQuery, more)
	p.cookieNames = p.namesOf(p.named(p.cookies), false)
	p.template.holdNames(p)
}

func (p *Plan) named(params []param) (all []named) {
	for _, q := range params {
		if q.JSON {
			all = append(all, named{name: q.Name, arg: q.arg})
		} else {
			all = append(all, p.namedBy(q.Name, q.arg, q.Style, q.Explode))
		}
	}
	return all
}

// named returns the fields of a body.
func (b *body) named(p *Plan) (all []named) {
	for _, f := range b.fields {
		if b.kind == bodyJSON || f.File || f.Style == "" {
			all = append(all, named{name: f.Name, arg: f.arg})
		} else {
			all = append(all, p.namedBy(f.Name, f.arg, f.Style, f.Explode))
		}
	}
	return all
}

// holdNames holds the names of matrix parameters: those of arguments, and those that the template fixes.
func (t *template) holdNames(p *Plan) {
	var all []param
	for _, piece := range slices.Concat(t.segments...) {
		if piece.param.Style == "matrix" {
			all = append(all, param{piece.param, piece.arg})
		}
	}
	if t.names = p.namesOf(p.named(all), false); t.names.spreading == 0 {
		return
	}
	for _, piece := range slices.Concat(t.segments...) {
		for i, text := range strings.Split(piece.literal, ";") {
			if name, _, _ := strings.Cut(text, "="); i > 0 {
				t.names.hold(name, byUpstream)
			}
		}
	}
}
