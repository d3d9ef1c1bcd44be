package restcall

import (
	"iter"
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
