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

// What Check finds. Each reads on after a plural, such as "the arguments".
var (
	ErrSyntax  = errors.New("must be one JSON value in UTF-8")
	ErrDepth   = errors.New("are nested too deeply")
	ErrTwice   = errors.New("name a member twice")
	ErrMembers = errors.New("have an object with too many members")
)

// Check reports whether a text is one JSON value within the limits.
func Check(text []byte, l Limits) error {
	if !utf8.Valid(text) || !json.Valid(text) {
		return ErrSyntax
	}
	_, err := l.walk(text, blank(text, 0), 0)
	return err
}

func (l *Limits) walk(b []byte, i, depth int) (end int, err error) {
	switch b[i] {
	case '{', '[':
		if depth == l.Depth {
			return 0, fmt.Errorf("%w: at most %d levels", ErrDepth, l.Depth)
		}
		if b[i] == '{' && l.Once {
			return l.object(b, i, depth)
		}
	default:
		return skip(b, i), nil
	}
	object := b[i] == '{'
	for i = blank(b, i+1); b[i] != '}' && b[i] != ']'; i = next(b, i) {
		if object {
			i = overName(b, i)
		}
		if i, err = l.walk(b, i, depth+1); err != nil {
			return 0, err
		}
	}
	return i + 1, nil
}

// object is walk for an object whose names count.
func (l *Limits) object(b []byte, i, depth int) (end int, err error) {
	var names seen
	for i = blank(b, i+1); b[i] != '}'; i = next(b, i) {
		if err := names.add(b[i:skip(b, i)], l.Members); err != nil {
			return 0, err
		}
		if i, err = l.walk(b, overName(b, i), depth+1); err != nil {
			return 0, err
		}
	}
	return i + 1, nil
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
