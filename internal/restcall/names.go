package restcall

import (
	"iter"
	"slices"
	"strings"
	"unicode"
)

// holders hold which argument each name of one place belongs to: of the query and a form together, which
// many servers read as one (PHP, Rails, Servlets); of a body of JSON; of the cookies; or of the matrix parameters
// of a path. The members of an object may be names in such a place too, and must not be those that belong to
// another argument, whose schema they have not passed.
//
// Two names are the same if a server takes one for the other: only letters and digits count, regardless of
// case; what is percent-encoded is read as well; and a[b], a.b and a[b][] are parts of a (PHP, Rack, qs, Spring,
// ASP.NET), so that a and a[b] are in each other's way, and a[b] and a[c] are not.
//
// The members of an object are names of their own where it is exploded, and in a body beside its fields. A
// member is refused, with a text that names both, if a server may take it for another argument, for a member
// that the schema of another object names, for a name that the base URL or the template fixes, or for the
// credential: its value has not passed the schema of the other. Names are the same if their letters and digits
// are, regardless of case, percent-encoded or not; a[b] and a.b are below a, and names below or above another
// one conflict with it. The query and a form count as one place, because many servers merge them; a body of
// JSON, the cookies, and the matrix parameters of a path are places of their own. Names that the document
// itself gives to two arguments are left to it.
//
// Where an object is one text, no member may hold the separator, unless it is written otherwise within one (%2C
// for a comma); neither may the elements of a list that blanks, | or tabs separate.
type holders struct {
	whole  map[string]holder // by the name in one word
	ends   map[string]holder // by the name's parts
	begins map[string]holder // by what the name's parts begin with
}

// holder names what a name belongs to: an argument, or one of the following.
type holder int

const (
	byNobody     holder = -1 - iota // nothing
	byUpstream                      // the upstream's base URL, or the template
	byCredential                    // the credential
	bySeveral                       // more than one of them all
)

// hold adds a name.
func (h *holders) hold(name string, by holder) {
	if h.whole == nil {
		h.whole, h.ends, h.begins = map[string]holder{}, map[string]holder{}, map[string]holder{}
	}
	add := func(to map[string]holder, key string) {
		if had, ok := to[key]; ok && had != by {
			to[key] = bySeveral
		} else {
			to[key] = by
		}
	}
	for word, path := range h.read(name) {
		if word != "" {
			add(h.whole, word)
		}
		for begin := range beginnings(path) {
			if len(begin) == len(path) {
				add(h.ends, path)
			} else {
				add(h.begins, begin)
			}
		}
	}
}

// other returns what else a name of an argument belongs to, byNobody if to nothing else. A nil *holders holds
// nothing.
func (h *holders) other(name string, than holder) holder {
	if h == nil || h.whole == nil {
		return byNobody
	}
	for word, path := range h.read(name) {
		if by, ok := h.whole[word]; ok && by != than && word != "" {
			return by
		}
		for begin := range beginnings(path) {
			if by, ok := h.ends[begin]; ok && by != than {
				return by
			}
		}
		if by, ok := h.begins[path]; ok && by != than {
			return by
		}
	}
	return byNobody
}

// read yields each reading of a name: in one word, "" if it is surely read by its parts, and the parts with
// dots between them, "" if it has none.
func (h *holders) read(name string) iter.Seq2[string, string] {
	return func(yield func(word, path string) bool) {
		for text := range readings(name, decodings) {
			word, path := "", pathOf(text)
			if path == "" || !strings.Contains(text, "]") {
				word = inOneWord(text)
			}
			if !yield(word, path) {
				return
			}
		}
	}
}

// beginnings yields a path cut after each of its parts, the whole of it last.
func beginnings(path string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for at := 0; at < len(path); at++ {
			if path[at] == '.' && !yield(path[:at]) {
				return
			}
		}
		if path != "" {
			yield(path)
		}
	}
}

func pathOf(name string) string {
	parts := strings.FieldsFunc(name, func(r rune) bool { return r == '[' || r == ']' || r == '.' })
	for i, part := range parts {
		parts[i] = inOneWord(part)
	}
	return strings.Join(parts, ".")
}

// inOneWord returns a name without its case and without what is no letter or digit. A name of nothing else
// stays as it is.
func inOneWord(name string) string {
	word := strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) {
			return unicode.ToLower(unicode.ToUpper(r))
		}
		return -1
	}, name)
	if word == "" {
		return name
	}
	return word
}

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
