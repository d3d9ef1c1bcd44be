package rpc

import (
	"encoding/json"
	"iter"
	"slices"
	"unicode/utf8"
)

const (
	maxDepth   = 72     // objects and arrays within each other
	maxMembers = 10_000 // of one object
)

var (
	errSyntax  = &Error{Code: ParseError, Text: "the body is not one JSON value in UTF-8: send one message"}
	errDepth   = &Error{Code: InvalidRequest, Text: "the message is nested too deeply: at most 72 levels"}
	errTwice   = &Error{Code: InvalidRequest, Text: "the message names a member twice in one object: send each once"}
	errMembers = &Error{Code: InvalidRequest, Text: "an object of the message has more than 10,000 members"}
)

// sound checks that text is one JSON value with one meaning. The other functions here take
// only text that is; on anything else they may panic.
func sound(text []byte) *Error {
	if !utf8.Valid(text) || !json.Valid(text) {
		return errSyntax
	}
	_, err := walk(text, blank(text, 0), 0)
	return err
}

func walk(b []byte, i, depth int) (end int, err *Error) {
	open := b[i]
	if open != '{' && open != '[' {
		return skip(b, i), nil
	}
	if depth == maxDepth {
		return 0, errDepth
	}
	var names seen
	for i = blank(b, i+1); b[i] != '}' && b[i] != ']'; {
		if open == '{' {
			start := i
			i = skip(b, i)
			if err := names.add(b[start:i]); err != nil {
				return 0, err
			}
			i = blank(b, blank(b, i)+1) // over the colon
		}
		if i, err = walk(b, i, depth+1); err != nil {
			return 0, err
		}
		if i = blank(b, i); b[i] == ',' {
			i = blank(b, i+1)
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

func (s *seen) add(raw []byte) *Error {
	name := unquote(raw)
	for _, other := range s.few[:s.n] {
		if string(other) == string(name) {
			return errTwice
		}
	}
	if s.n < len(s.few) {
		s.few[s.n] = name
		s.n++
		return nil
	}
	if s.many == nil {
		s.many = map[string]bool{}
	}
	switch {
	case s.many[string(name)]:
		return errTwice
	case s.n+len(s.many) == maxMembers:
		return errMembers
	}
	s.many[string(name)] = true
	return nil
}

func blank(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\n' || b[i] == '\t' || b[i] == '\r') {
		i++
	}
	return i
}

// skip returns where the value that begins at b[i] ends.
func skip(b []byte, i int) int {
	for depth := 0; ; i++ {
		switch b[i] {
		case '"':
			for i++; b[i] != '"'; i++ {
				if b[i] == '\\' {
					i++
				}
			}
		case '{', '[':
			depth++
			continue
		case '}', ']':
			depth--
		case ' ', '\n', '\t', '\r', ',', ':':
			continue
		default: // a number, true, false or null
			for i+1 < len(b) && !ends(b[i+1]) {
				i++
			}
		}
		if depth == 0 {
			return i + 1
		}
	}
}

func ends(c byte) bool {
	return c == ',' || c == ']' || c == '}' || c == ' ' || c == '\n' || c == '\t' || c == '\r'
}

// values walks the members of an object, or the elements of an array, which have no name.
func values(b []byte) iter.Seq2[[]byte, json.RawMessage] {
	return func(yield func([]byte, json.RawMessage) bool) {
		object := b[0] == '{'
		for i := blank(b, 1); b[i] != '}' && b[i] != ']'; {
			var name []byte
			end := 0
			if object {
				end = skip(b, i)
				name = unquote(b[i:end])
				i = blank(b, blank(b, end)+1)
			}
			end = skip(b, i)
			if !yield(name, b[i:end:end]) {
				return
			}
			if i = blank(b, end); b[i] == ',' {
				i = blank(b, i+1)
			}
		}
	}
}

// unquote returns the text of a string.
func unquote(raw []byte) []byte {
	if !slices.Contains(raw, '\\') {
		return raw[1 : len(raw)-1]
	}
	var text string
	json.Unmarshal(raw, &text) // it is valid
	return []byte(text)
}
