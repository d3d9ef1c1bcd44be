package mcpcall

import (
	"encoding/json"
	"errors"
	"iter"
	"unicode/utf8"
)

// JSON is checked once and then read where it lies, so that numbers keep their digits and
// names their case. All but sound take text that sound has found to be valid; on anything
// else they may panic.

type raw = json.RawMessage

const (
	maxLevels = 64            // of arguments and structured content
	maxNested = maxLevels + 8 // of a whole message around them, or around a schema
)

var (
	errSyntax = errors.New("must be one JSON value in UTF-8")
	errDepth  = errors.New("are nested more than 64 deep")
	errTwice  = errors.New("name a member twice")
)

// sound checks that text is one JSON value, and nested at most so many levels.
func sound(text []byte, levels int) error {
	if !utf8.Valid(text) || !json.Valid(text) {
		return errSyntax
	}
	depth := 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '"':
			i = closing(text, i)
		case '{', '[':
			if depth++; depth > levels {
				return errDepth
			}
		case '}', ']':
			depth--
		}
	}
	return nil
}

// unambiguous checks that no object of a value names a member twice, which two readers
// might read differently.
func unambiguous(text raw) error {
	switch text = trim(text); text[0] {
	case '{':
		seen := map[string]bool{}
		for name, v := range members(text) {
			if seen[name] {
				return errTwice
			}
			seen[name] = true
			if err := unambiguous(v); err != nil {
				return err
			}
		}
	case '[':
		for v := range elements(text) {
			if err := unambiguous(v); err != nil {
				return err
			}
		}
	}
	return nil
}

// object returns the members of an object, nil if the text is something else or names one
// of them twice.
func object(text raw) map[string]raw {
	if len(text) == 0 || text[0] != '{' {
		return nil
	}
	out := map[string]raw{}
	for name, v := range members(text) {
		if _, twice := out[name]; twice {
			return nil
		}
		out[name] = v
	}
	return out
}

// stringOf returns a string. It is not ok if there is something else, or nothing.
func stringOf(v raw) (s string, ok bool) {
	if len(v) == 0 || v[0] != '"' {
		return "", false
	}
	return s, json.Unmarshal(v, &s) == nil
}

// present reports whether a member is there and not null.
func present(v raw) bool { return len(v) > 0 && v[0] != 'n' }

// members walks the members of an object.
func members(b raw) iter.Seq2[string, raw] {
	return func(yield func(string, raw) bool) {
		for i := blank(b, 1); b[i] != '}'; {
			end := skip(b, i)
			name, _ := stringOf(b[i:end])
			i = blank(b, blank(b, end)+1) // over the colon
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

// elements walks the elements of an array.
func elements(b raw) iter.Seq[raw] {
	return func(yield func(raw) bool) {
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

func trim(b raw) raw { i := blank(b, 0); return b[i:skip(b, i)] }

func blank(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\n' || b[i] == '\t' || b[i] == '\r') {
		i++
	}
	return i
}

// closing returns where the string that begins at b[i] has its last quote.
func closing(b []byte, i int) int {
	for i++; b[i] != '"'; i++ {
		if b[i] == '\\' {
			i++
		}
	}
	return i
}

// skip returns where the value that begins at b[i] ends.
func skip(b []byte, i int) int {
	for depth := 0; ; i++ {
		switch b[i] {
		case '"':
			i = closing(b, i)
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
