package restcall

import (
	"encoding/json"
	"errors"
	"iter"
	"slices"
	"unicode/utf8"
)

// The functions here read JSON where it lies. All but sound take text that sound, or
// json.Valid, has found to be valid; on anything else they may panic.

// maxDepth bounds how deeply arguments and structured answers are nested.
const maxDepth = 64

var (
	errSyntax = errors.New("must be one JSON value in UTF-8")
	errDepth  = errors.New("are nested more than 64 deep")
	errTwice  = errors.New("name a member twice")
)

// sound checks that text is one JSON value: valid, not nested too deeply and, if once is
// set, without a member that two readers might read differently.
func sound(text []byte, once bool) error {
	if !utf8.Valid(text) || !json.Valid(text) {
		return errSyntax
	}
	_, err := walk(text, blank(text, 0), 0, once)
	return err
}

func walk(b []byte, i, depth int, once bool) (end int, err error) {
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
			if once && names.twice(b[start:i]) {
				return 0, errTwice
			}
			i = blank(b, blank(b, i)+1) // over the colon
		}
		if i, err = walk(b, i, depth+1, once); err != nil {
			return 0, err
		}
		if i = blank(b, i); b[i] == ',' {
			i = blank(b, i+1)
		}
	}
	return i + 1, nil
}

// seen is a set of names that is cheap while it is small and its names are plain.
type seen struct {
	few  [][]byte
	many map[string]bool
}

// twice adds a name, as it is written, and reports whether it was there.
func (s *seen) twice(raw []byte) bool {
	name := raw[1 : len(raw)-1]
	if slices.Contains(name, '\\') {
		name = []byte(unquote(raw))
	}
	if s.many == nil && len(s.few) < 16 {
		there := slices.ContainsFunc(s.few, func(n []byte) bool { return string(n) == string(name) })
		s.few = append(s.few, name)
		return there
	}
	if s.many == nil {
		s.many = map[string]bool{}
		for _, n := range s.few {
			s.many[string(n)] = true
		}
	}
	there := s.many[string(name)]
	s.many[string(name)] = true
	return there
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

// ends reports whether c ends a number, true, false or null.
func ends(c byte) bool {
	return c == ',' || c == ']' || c == '}' || c == ' ' || c == '\n' || c == '\t' || c == '\r'
}

// elements walks the elements of an array.
func elements(b []byte) iter.Seq[json.RawMessage] {
	return func(yield func(json.RawMessage) bool) {
		for i := blank(b, 1); b[i] != ']'; {
			end := skip(b, i)
			if !yield(b[i:end:end]) {
				return
			}
			if i = blank(b, end); b[i] == ',' {
				i = blank(b, i+1)
			}
		}
	}
}

// members walks the members of an object.
func members(b []byte) iter.Seq2[string, json.RawMessage] {
	return func(yield func(string, json.RawMessage) bool) {
		for i := blank(b, 1); b[i] != '}'; {
			end := skip(b, i)
			name := unquote(b[i:end])
			i = blank(b, blank(b, end)+1)
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
func unquote(raw []byte) (s string) {
	if slices.Contains(raw, '\\') {
		json.Unmarshal(raw, &s) // it is valid
		return s
	}
	return string(raw[1 : len(raw)-1])
}

func isNull(raw json.RawMessage) bool { return len(raw) > 0 && raw[0] == 'n' }
