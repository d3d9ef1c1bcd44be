package restcall

import (
	"net/url"
	"slices"
	"strings"
)

// query is written in the order in which it is sent: what the upstream's base URL fixes,
// what the template fixes, the arguments, the credential.
type query struct {
	text  []byte
	fixed []string // names that arguments may not add to
	key   string   // name of the credential, whose other values are dropped; "": none
	clash string   // the first fixed name that an argument tried
	odd   bool     // an argument has control characters
}

// newQuery begins with parts that are encoded already.
func newQuery(key string, parts ...string) *query {
	q := &query{key: key}
	for _, part := range parts {
		for pair := range strings.SplitSeq(part, "&") {
			if pair == "" {
				continue
			}
			name, _, _ := strings.Cut(pair, "=")
			if plain, err := url.QueryUnescape(name); err == nil {
				name = plain
			}
			if name == key && key != "" {
				continue
			}
			q.fixed = append(q.fixed, name)
			q.separate()
			q.text = append(q.text, pair...)
		}
	}
	return q
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

// open writes name= and reports whether a value may follow.
func (q *query) open(name string) bool {
	if slices.Contains(q.fixed, name) {
		q.clash = name
		return false
	}
	if name == q.key && q.key != "" {
		return false
	}
	q.odd = q.odd || !plain(name) // a member of an object may be a name
	q.name(name)
	return true
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
