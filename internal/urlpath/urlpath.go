package urlpath

import (
	"net/url"
	"strings"
)

const decodings = 2 // that a path may be put through by those behind

// Escape returns the escaped form of a path, in which prefixes are compared.
func Escape(path string) string { return (&url.URL{Path: path}).EscapedPath() }

// Cut takes a prefix off a path, both escaped, if the prefix ends where a segment does.
func Cut(escaped, prefix string) (rest string, ok bool) {
	rest, ok = strings.CutPrefix(escaped, prefix)
	return rest, ok && (rest == "" || rest[0] == '/')
}

// Covers reports whether a path is among some, or below one that ends in a slash.
func Covers(paths []string, path string) bool {
	for _, p := range paths {
		if path == p || strings.HasSuffix(p, "/") && strings.HasPrefix(path, p) {
			return true
		}
	}
	return false
}

// Readings returns what else a path may be read as, escaped again; nil if it can be read in
// one way only. Dot segments stay: see Climbs.
func Readings(escaped string) (all []string) {
	if !strings.ContainsAny(escaped, `%;\`) && !strings.Contains(escaped, "//") {
		return nil
	}
	all = append(all, tidy(escaped)) // some drop parameters before they decode
	text := escaped
	for range decodings {
		text = decode(text)
		all = append(all, Escape(tidy(text)))
	}
	return all
}

// Climbs reports whether a path leads upwards, or may be read so: whether one of its
// segments is . or .. in any reading.
func Climbs(escaped string) bool {
	text := escaped
	for range decodings {
		if climbs(text) {
			return true
		}
		if !strings.Contains(text, "%") {
			return false
		}
		text = decode(text)
	}
	return climbs(text)
}

func climbs(text string) bool {
	for segment := range strings.FieldsFuncSeq(text, isSlash) {
		if name, _, _ := strings.Cut(segment, ";"); name == "." || name == ".." {
			return true
		}
	}
	return false
}

func isSlash(c rune) bool { return c == '/' || c == '\\' }

// tidy is a path without parameters, backslashes and empty segments.
func tidy(text string) string {
	var b strings.Builder
	for segment := range strings.FieldsFuncSeq(text, isSlash) {
		if name, _, _ := strings.Cut(segment, ";"); name != "" {
			b.WriteByte('/')
			b.WriteString(name)
		}
	}
	if b.Len() == 0 || strings.HasSuffix(text, "/") {
		b.WriteByte('/')
	}
	return b.String()
}

// decode decodes what is properly encoded and leaves the rest, as lenient services do.
func decode(text string) string {
	if !strings.Contains(text, "%") {
		return text
	}
	b := make([]byte, 0, len(text))
	for i := 0; i < len(text); i++ {
		if text[i] == '%' && i+2 < len(text) {
			if one, err := url.PathUnescape(text[i : i+3]); err == nil {
				b = append(b, one...)
				i += 2
				continue
			}
		}
		b = append(b, text[i])
	}
	return string(b)
}
