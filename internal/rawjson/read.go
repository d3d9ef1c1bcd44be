package rawjson

import (
	"encoding/json"
	"iter"
	"slices"
)

// Members walks the members of an object. A name may be a part of the text: a caller that keeps it
// must copy it.
func Members(object []byte) iter.Seq2[[]byte, json.RawMessage] {
	return func(yield func([]byte, json.RawMessage) bool) {
		for i := blank(object, 1); object[i] != '}'; {
			start := overName(object, i)
			end := skip(object, start)
			if !yield(Unquote(object[i:skip(object, i)]), object[start:end:end]) {
				return
			}
			i = next(object, end)
		}
	}
}

// Elements walks the elements of an array.
func Elements(array []byte) iter.Seq[json.RawMessage] {
	return func(yield func(json.RawMessage) bool) {
		for i := blank(array, 1); array[i] != ']'; {
			end := skip(array, i)
			if !yield(array[i:end:end]) {
				return
			}
			i = next(array, end)
		}
	}
}

// Trim returns a value without the blanks around it.
func Trim(text []byte) json.RawMessage {
	i := blank(text, 0)
	return text[i:skip(text, i)]
}

// Unquote returns the text of a string. It may be a part of what it is given.
func Unquote(raw []byte) []byte {
	if !slices.Contains(raw, '\\') {
		return raw[1 : len(raw)-1]
	}
	var text string
	json.Unmarshal(raw, &text) // it is valid
	return []byte(text)
}

func blank(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\n' || b[i] == '\t' || b[i] == '\r') {
		i++
	}
	return i
}

// next goes from the end of a value to the next one, or to the end of what holds them.
func next(b []byte, i int) int {
	if i = blank(b, i); b[i] == ',' {
		i = blank(b, i+1)
	}
	return i
}

// overName goes from a name to its value.
func overName(b []byte, i int) int { return blank(b, blank(b, skip(b, i))+1) }

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
