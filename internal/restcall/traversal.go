package restcall

import (
	"iter"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// decodings bounds how often an upstream may decode a path argument beyond the first time: it
// may hand the path to a server of its own (decision 60).
const decodings = 2

// Why a text may not be part of a path; each reads on after "must".
const (
	faultEmpty    = "not be empty: it is part of the path"
	faultControls = "have no control characters, encoded or not: it is part of the path"
	faultClimbs   = "not make a segment . or .. of the path, between slashes or backslashes, encoded or not"
)

// pathFault says why a text that a path argument gives may not be sent, "" if it may.
//
// The text is checked in every form that an upstream may read it in: as it is and decoded once or twice, with \
// for /, with the wide forms of characters and overlong UTF-8 for ASCII, without characters that a server
// drops, up to a ; or ? or #. A segment . or .. is refused, by itself or with the text beside it in the
// template, and so are control characters, tabs and line breaks among them, and an argument of slashes alone.
// This refuses "..;" and "." before ".json", which some upstreams could have taken. Slashes are sent as %2F,
// and as they are if the parameter has allowReserved.
func pathFault(text string) string {
	if strings.ContainsFunc(text, unicode.IsControl) {
		return faultControls
	}
	for read := range readings(text, decodings) {
		switch {
		case strings.ContainsFunc(read, unicode.IsControl):
			return faultControls
		case climbs(read):
			return faultClimbs
		}
	}
	return ""
}

// climbing reports whether a part of a path, encoded once, has a dot segment for any
// server that decodes it.
func climbing(path string) bool {
	for read := range readings(path, decodings+1) {
		if climbs(read) {
			return true
		}
	}
	return false
}

// slashes reports whether nothing is left of a text between its slashes: servers that
// merge slashes would serve the folder.
func slashes(text string) bool {
	for read := range readings(text, decodings) {
		if strings.Trim(read, `/\`) == "" {
			return true
		}
	}
	return false
}

// climbs reports whether a text has a segment . or .. between slashes. A segment ends where servers
// end it: before parameters (Tomcat's ..;/), and before a query or fragment for those that read a
// decoded path as a URL. Windows drops blanks.
func climbs(text string) bool {
	for segment := range strings.FieldsFuncSeq(text, func(r rune) bool { return r == '/' || r == '\\' }) {
		if end := strings.IndexAny(segment, ";?#"); end >= 0 {
			segment = segment[:end]
		}
		if segment = strings.TrimSpace(segment); segment == "." || segment == ".." {
			return true
		}
	}
	return false
}

// readings yields a text as servers may read it: folded, and decoded once, twice and so on.
func readings(text string, times int) iter.Seq[string] {
	return func(yield func(string) bool) {
		text := fold(text)
		for i := 0; yield(text) && i < times && strings.Contains(text, "%"); i++ {
			text = fold(unescape(text))
		}
	}
}

// unescape decodes what is percent-encoded, %u002E of IIS too, and leaves alone what only
// begins like it: one bad escape must not hide the others.
func unescape(text string) string {
	var out strings.Builder
	for i := 0; i < len(text); {
		r, size := escaped(text[i:])
		switch {
		case size == 0:
			out.WriteByte(text[i])
			size = 1
		case size == len("%2E"):
			out.WriteByte(byte(r))
		default:
			out.WriteRune(r)
		}
		i += size
	}
	return out.String()
}

// escaped reads %2E or %u002E at the beginning of a text; size is 0 if there is neither.
func escaped(text string) (r rune, size int) {
	if len(text) >= 3 && text[0] == '%' && isHex(text[1]) && isHex(text[2]) {
		return hexRune(text[1:3]), 3
	}
	if len(text) >= 6 && text[0] == '%' && (text[1] == 'u' || text[1] == 'U') && isHex(text[2]) && isHex(text[3]) &&
		isHex(text[4]) && isHex(text[5]) {
		return hexRune(text[2:6]), 6
	}
	return 0, 0
}

func hexRune(digits string) rune {
	n, _ := strconv.ParseUint(digits, 16, 32) // callers have looked at the digits
	return rune(n)
}

// fold replaces by ASCII what some servers take for it: the wide forms of characters, look-alikes
// of dots and slashes, and encodings of more bytes than are needed. It drops invisible characters
// and invalid UTF-8, as some servers do.
func fold(text string) string {
	if !strings.ContainsFunc(text, func(r rune) bool { return r >= utf8.RuneSelf }) {
		return text
	}
	var out strings.Builder
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			var c byte
			if c, size = overlong(text[i:]); size > 0 {
				out.WriteByte(c)
			}
			size = max(size, 1)
		case r < utf8.RuneSelf || unicode.IsControl(r):
			out.WriteRune(r)
		case '！' <= r && r <= '～':
			out.WriteRune(r - '！' + '!')
		case likeASCII[r] != "":
			out.WriteString(likeASCII[r])
		case unicode.IsGraphic(r):
			out.WriteRune(r)
		}
		i += size
	}
	return out.String()
}

// likeASCII are characters that compatibility mappings (NFKC, the best fit of Windows
// code pages) make dots, slashes and percent signs of.
var likeASCII = map[rune]string{
	'․': ".", '‥': "..", '﹒': ".",
	'⁄': "/", '∕': "/", '⧸': "/",
	'∖': `\`, '⧵': `\`, '﹨': `\`, '¥': `\`, '₩': `\`,
	'﹪': "%", '\u037e': ";",
}

// overlong reads a character of ASCII in UTF-8 of more bytes than it needs, which no
// decoder should take and some have; size is 0 if there is none.
func overlong(text string) (c byte, size int) {
	lead := text[0]
	n, known := map[byte]int{0xc0: 2, 0xc1: 2, 0xe0: 3, 0xf0: 4, 0xf8: 5, 0xfc: 6}[lead]
	if !known || len(text) < n {
		return 0, 0
	}
	v := rune(lead & 1)
	for _, b := range []byte(text[1:n]) {
		if b&0xc0 != 0x80 {
			return 0, 0
		}
		v = v<<6 | rune(b&0x3f)
	}
	if v >= utf8.RuneSelf {
		return 0, 0
	}
	return byte(v), n
}
