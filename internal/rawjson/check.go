package rawjson

import (
	"encoding/json"
	"errors"
	"fmt"
	"unicode/utf8"
)

// Limits bound a text. Zero values bound nothing, but for Depth.
type Limits struct {
	Depth   int  // objects and arrays within each other
	Once    bool // no object may name a member twice, which two readers might read differently
	Members int  // of one object; looked at with Once
}

// Findings of Check. Each continues a sentence that begins with a plural, such as "the arguments".
var (
	ErrSyntax  = errors.New("must be one JSON value in UTF-8")
	ErrDepth   = errors.New("are nested too deeply")
	ErrTwice   = errors.New("name a member twice")
	ErrMembers = errors.New("have an object with too many members")
)

// Check reports whether a text is one JSON value within the limits. It reads the text once, and a
// second time only to say what is wrong: what is no JSON at all is ErrSyntax, whatever else it is.
func Check(text []byte, l Limits) error {
	if !utf8.Valid(text) {
		return ErrSyntax
	}
	end, err := l.value(text, blank(text, 0), 0)
	switch {
	case err == nil && blank(text, end) != len(text):
		return ErrSyntax
	case err != nil && err != ErrSyntax && !json.Valid(text):
		return ErrSyntax
	}
	return err
}

// value returns where the value that begins at b[i] ends.
func (l *Limits) value(b []byte, i, depth int) (end int, err error) {
	if i == len(b) {
		return 0, ErrSyntax
	}
	switch c := b[i]; {
	case c == '"':
		return text(b, i)
	case c == '-', '0' <= c && c <= '9':
		return number(b, i)
	case c != '{' && c != '[':
		return literal(b, i)
	case depth == l.Depth:
		return 0, fmt.Errorf("%w: at most %d levels", ErrDepth, l.Depth)
	case c == '{':
		return l.object(b, i, depth)
	}
	return l.array(b, i, depth)
}

func (l *Limits) array(b []byte, i, depth int) (end int, err error) {
	if i = blank(b, i+1); i < len(b) && b[i] == ']' {
		return i + 1, nil
	}
	for {
		if i, err = l.value(b, i, depth+1); err != nil {
			return 0, err
		}
		more := false
		if i, more, err = another(b, i, ']'); !more {
			return i, err
		}
	}
}

func (l *Limits) object(b []byte, i, depth int) (end int, err error) {
	if i = blank(b, i+1); i < len(b) && b[i] == '}' {
		return i + 1, nil
	}
	var names seen
	for {
		if i == len(b) || b[i] != '"' {
			return 0, ErrSyntax
		}
		from := i
		if i, err = text(b, i); err == nil && l.Once {
			err = names.add(b[from:i], l.Members)
		}
		if err != nil {
			return 0, err
		}
		if i = blank(b, i); i == len(b) || b[i] != ':' {
			return 0, ErrSyntax
		}
		if i, err = l.value(b, blank(b, i+1), depth+1); err != nil {
			return 0, err
		}
		more := false
		if i, more, err = another(b, i, '}'); !more {
			return i, err
		}
	}
}

// another goes on behind a value: to the next one, or over the end of what holds them.
func another(b []byte, i int, end byte) (_ int, more bool, _ error) {
	if i = blank(b, i); i == len(b) {
		return 0, false, ErrSyntax
	}
	switch b[i] {
	case ',':
		return blank(b, i+1), true, nil
	case end:
		return i + 1, false, nil
	}
	return 0, false, ErrSyntax
}

// seen are the names of one object. Most objects have few.
type seen struct {
	few  [16][]byte
	n    int
	many map[string]bool
}

func (s *seen) add(raw []byte, limit int) error {
	name := Unquote(raw)
	for _, other := range s.few[:s.n] {
		if string(other) == string(name) {
			return ErrTwice
		}
	}
	switch {
	case s.many[string(name)]:
		return ErrTwice
	case limit > 0 && s.n+len(s.many) == limit:
		return fmt.Errorf("%w: at most %d", ErrMembers, limit)
	case s.n < len(s.few):
		s.few[s.n] = name
		s.n++
		return nil
	case s.many == nil:
		s.many = map[string]bool{}
	}
	s.many[string(name)] = true
	return nil
}
