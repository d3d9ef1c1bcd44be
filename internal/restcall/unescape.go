package restcall

import (
	"bytes"
	"cmp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// escapes lists the prefixes of known escapes.
const escapes = `%\&`

// unescaped undoes percent-encoding, the escapes of JSON and of programs (\/ \" \u002B
// \x2B), and those of HTML (&amp; &#43; &#x2B;), each once and in capitals or not.
func unescaped(text []byte) []byte {
	out := make([]byte, 0, len(text))
	for i := 0; i < len(text); {
		n := bytes.IndexAny(text[i:], escapes)
		if n < 0 {
			return append(out, text[i:]...)
		}
		out = append(out, text[i:i+n]...)
		var size int
		out, size = appendUnescaped(out, text[i+n:])
		i += n + size
	}
	return out
}

// appendUnescaped appends what the escape at the beginning of a text stands for, or its
// first byte if that begins none, and returns how long it is.
func appendUnescaped(dst, text []byte) (out []byte, size int) {
	switch text[0] {
	case '%':
		head := string(text[:min(len(text), 6)])
		switch r, size := escaped(head); size {
		case 3:
			return append(dst, byte(r)), size
		case 6:
			return utf8.AppendRune(dst, r), size
		}
	case '\\':
		if r, size := inString(text); size > 0 {
			return utf8.AppendRune(dst, r), size
		}
	case '&':
		if r, size := inHTML(text); size > 0 {
			return utf8.AppendRune(dst, r), size
		}
	}
	return append(dst, text[0]), 1
}

// inString reads an escape of a string in JSON or a program.
func inString(text []byte) (r rune, size int) {
	if len(text) < 2 {
		return 0, 0
	}
	if i := strings.IndexByte(`"\/'bfnrt`, text[1]); i >= 0 {
		return rune("\"\\/'\b\f\n\r\t"[i]), 2
	}
	if r, ok := digits(text, 2, 2); ok && text[1] == 'x' {
		return r, 4
	}
	r, ok := digits(text, 2, 4)
	if !ok || text[1] != 'u' {
		return 0, 0
	}
	if low, ok := digits(text, 8, 4); ok && utf16.IsSurrogate(r) && text[6] == '\\' && text[7] == 'u' {
		if both := utf16.DecodeRune(r, low); both != utf8.RuneError {
			return both, 12
		}
	}
	return r, 6
}

// digits reads n hexadecimal digits at a place.
func digits(text []byte, at, n int) (r rune, ok bool) {
	if len(text) < at+n {
		return 0, false
	}
	for _, c := range text[at : at+n] {
		if !isHex(c) {
			return 0, false
		}
	}
	return hexRune(string(text[at : at+n])), true
}

// entities are those that every encoder of HTML writes.
var entities = map[string]rune{"amp": '&', "lt": '<', "gt": '>', "quot": '"', "apos": '\'', "nbsp": ' '}

const maxEntity = 10 // bytes of one: &#x10FFFF;

// inHTML reads an entity of HTML.
func inHTML(text []byte) (r rune, size int) {
	end := bytes.IndexByte(text[:min(len(text), maxEntity)], ';')
	if end < 2 {
		return 0, 0
	}
	name := strings.ToLower(string(text[1:end]))
	if r := entities[name]; r != 0 {
		return r, end + 1
	}
	number, isNumber := strings.CutPrefix(name, "#")
	base := 10
	if hex, is := strings.CutPrefix(number, "x"); is {
		number, base = hex, 16
	}
	n, err := strconv.ParseUint(number, base, 21)
	if !isNumber || err != nil || n > utf8.MaxRune {
		return 0, 0
	}
	return rune(n), end + 1
}

// edge is a byte of an unescaped text that begins or ends a span.
type edge struct {
	at   int
	last bool
	to   *int // where its place in the text itself is written
}

// lift returns where spans of an unescaped text stand in the text itself.
func lift(spans []span, text []byte) []span {
	out, edges := make([]span, len(spans)), make([]edge, 0, 2*len(spans))
	for i, s := range spans {
		edges = append(edges, edge{s.from, false, &out[i].from}, edge{s.to - 1, true, &out[i].to})
	}
	slices.SortFunc(edges, func(a, b edge) int { return cmp.Compare(a.at, b.at) })
	var unit [utf8.UTFMax]byte
	at := 0 // in the unescaped text
	for i := 0; len(edges) > 0; {
		n := bytes.IndexAny(text[i:], escapes)
		if n < 0 {
			n = len(text) - i
		}
		for ; len(edges) > 0 && edges[0].at < at+n; edges = edges[1:] {
			e := edges[0]
			*e.to = i + e.at - at
			if e.last {
				*e.to++
			}
		}
		if i, at = i+n, at+n; i == len(text) {
			break
		}
		made, size := appendUnescaped(unit[:0], text[i:])
		for ; len(edges) > 0 && edges[0].at < at+len(made); edges = edges[1:] {
			e := edges[0]
			*e.to = i
			if e.last {
				*e.to += size
			}
		}
		i, at = i+size, at+len(made)
	}
	return out
}
