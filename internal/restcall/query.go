package restcall

import (
	"iter"
	"net/url"
	"strings"
)

// query is written in the order in which it is sent: what the upstream's base URL fixes,
// what the template fixes, the arguments, the credential.
type query struct {
	*naming
	text  []byte
	key   string // name of the credential, whose other values are dropped; "": none
	odd   bool   // an argument has control characters
	param *param // that is being written
	own   verdict
}

// verdict is whether the parameter that is being written may have its own name.
type verdict int

const (
	unknown verdict = iota
	may
	mayNot
)

// newQuery begins with parts that are encoded already.
func newQuery(n *naming, key string, parts ...string) *query {
	n.others = &holders{}
	q := &query{naming: n, key: key}
	if key != "" {
		n.others.hold(key, byCredential)
	}
	for _, part := range parts {
		for name, pair := range queryPairs(part) {
			if name == key && key != "" {
				continue
			}
			n.others.hold(name, byUpstream)
			q.separate()
			q.text = append(q.text, pair...)
		}
	}
	return q
}

// queryPairs yields the parts of a query that is encoded, with the name of each.
func queryPairs(query string) iter.Seq2[string, string] {
	return func(yield func(name, pair string) bool) {
		for pair := range strings.SplitSeq(query, "&") {
			name, _, _ := strings.Cut(pair, "=")
			if plain, err := url.QueryUnescape(name); err == nil {
				name = plain
			}
			if pair != "" && !yield(name, pair) {
				return
			}
		}
	}
}

// whole adds an argument that is all of the query (OpenAPI 3.2, in: querystring). It is one text to the
// upstream: no part of it names a parameter.
func (q *query) whole(text string) {
	q.separate()
	q.text = escapeQuery(q.text, text)
}

func (q *query) add(name, text string) {
	if q.open(name) {
		q.text = q.escape(q.text, text)
	}
}

// escape is escapeQuery for the text of an argument.
func (q *query) escape(dst []byte, text string) []byte {
	q.odd = q.odd || !plain(text)
	return escapeQuery(dst, text)
}

// begin is called before a parameter is written.
func (q *query) begin(p *param) { q.param, q.own = p, unknown }

// open writes name= and reports whether a value may follow.
func (q *query) open(name string) bool {
	if name == q.key && q.key != "" || !q.may(name) {
		return false
	}
	q.odd = q.odd || !plain(name) // a member of an object may be a name
	q.name(name)
	return true
}

// may reports whether the parameter may have a name. One that a document declares beside another is of the
// document's making, and gives way to the credential silently; what the members of an argument are called
// is of the caller's.
func (q *query) may(name string) bool {
	if name != q.param.Name {
		return q.member(q.param.arg, name)
	}
	if q.own == unknown {
		q.own = may
		if by := q.others.other(name, holder(q.param.arg)); by != byNobody {
			q.own = mayNot
			if by != byCredential {
				q.clash(q.param.arg, name, by)
			}
		}
	}
	return q.own == may
}

// credential ends the query with the credential.
func (q *query) credential(secret string) {
	q.name(q.key)
	q.text = escapeQuery(q.text, secret)
}

func (q *query) name(name string) {
	q.separate()
	q.text = append(escapeQuery(q.text, name), '=')
}

func (q *query) separate() {
	if len(q.text) > 0 {
		q.text = append(q.text, '&')
	}
}
