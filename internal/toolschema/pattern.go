package toolschema

import (
	"regexp/syntax"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/keystile/keystile/internal/pattern"
)

// portable returns a pattern as everybody reads it, "" if there is no such one. Documents
// share patterns, so each is read once.
func (p *Projection) portable(pattern string) string {
	out, known := p.doc.patterns[pattern]
	if !known {
		p.steps += patternSteps
		out = portable(pattern)
		p.doc.patterns[pattern] = out
	}
	return out
}

// patternSteps is the cost of reading a pattern, in steps.
const patternSteps = 16

// portable returns a pattern that RE2 and ECMA-262 read in the same way, the latter with
// the flag u too, under which clients compile it: it knows no escape that escapes nothing,
// and no bracket, brace or hyphen that stands for itself only because it could not mean
// anything else. Such are mended, which changes no meaning; whatever else is not read by
// all gives "". The pattern is parsed, not compiled: a{1000} is cheap to read and dear to
// build.
func portable(pattern string) string {
	if pattern == "" || len(pattern) > maxWord || !utf8.ValidString(pattern) {
		return ""
	}
	m := patternReader{rest: pattern}
	if !m.mend() {
		return ""
	}
	out := m.out.String()
	after, err := syntax.Parse(out, syntax.Perl)
	if err != nil || len(out) > maxWord {
		return ""
	}
	if before, err := syntax.Parse(pattern, syntax.Perl); err == nil && before.String() != after.String() {
		return ""
	}
	return out
}

// patternReader reads a pattern from left to right.
type patternReader struct {
	rest      string
	out       strings.Builder
	assertion bool // the last thing was one, which ECMA-262 has no quantifier for
}

var (
	quantifier = pattern.Lazy(`^\{[0-9]+(,[0-9]*)?\}`)
	almostOne  = pattern.Lazy(`^\{[ ,0-9]`) // whoever wrote it meant one
)

// mend reports whether all of the pattern could be read.
func (m *patternReader) mend() bool {
	for m.rest != "" {
		c := m.rest[0]
		if quantified := c == '*' || c == '+' || c == '?' || quantifier().MatchString(m.rest); quantified && m.assertion {
			return false
		}
		m.assertion = c == '^' || c == '$' || strings.HasPrefix(m.rest, `\b`) || strings.HasPrefix(m.rest, `\B`)
		switch c {
		case '\\':
			if _, ok := m.escape(false); !ok {
				return false
			}
		case '[':
			if !m.class() {
				return false
			}
		case '(':
			if strings.HasPrefix(m.rest, "(?") && !strings.HasPrefix(m.rest, "(?:") {
				return false
			}
			m.take(1)
		case '{':
			size := len(quantifier().FindString(m.rest))
			switch {
			case size > 0:
				m.take(size)
			case almostOne().MatchString(m.rest):
				return false
			default:
				m.literally(1)
			}
		case '}', ']':
			m.literally(1)
		default:
			m.take(1)
		}
	}
	return true
}

func (m *patternReader) take(n int) {
	m.out.WriteString(m.rest[:n])
	m.rest = m.rest[n:]
}

// literally takes a character that needs an escape.
func (m *patternReader) literally(n int) {
	m.out.WriteByte('\\')
	m.take(n)
}

const (
	sets     = "dDwWsS"          // escapes that stand for several characters
	controls = "nrtfv"           // that stand for one
	special  = `^$\.*+?()[]{}|/` // characters that may be escaped under the flag u; - within brackets
)

// escape takes an escape and reports whether it stands for a set of characters.
func (m *patternReader) escape(inClass bool) (set, ok bool) {
	if len(m.rest) < 2 {
		return false, false
	}
	c := m.rest[1]
	switch {
	case strings.IndexByte(sets, c) >= 0:
		m.take(2)
		return true, true
	case strings.IndexByte(controls, c) >= 0, !inClass && (c == 'b' || c == 'B'):
		m.take(2)
		return false, true
	case c == 'x' && isHex(m.rest, 2, 2):
		m.take(4)
		return false, true
	case c == 'u' && isHex(m.rest, 2, 4):
		return false, m.codePoint(inClass)
	case strings.IndexByte(special, c) >= 0, inClass && c == '-':
		m.take(2)
		return false, true
	case c < utf8.RuneSelf && (c == '_' || !letterOrDigit(c)), c >= utf8.RuneSelf:
		m.rest = m.rest[1:]
		_, size := utf8.DecodeRuneInString(m.rest)
		m.take(size)
		return false, true
	}
	return false, false
}

// codePoint takes \u4e00 and writes the character itself, which RE2 reads too.
func (m *patternReader) codePoint(inClass bool) bool {
	n, _ := strconv.ParseUint(m.rest[2:6], 16, 32)
	r := rune(n)
	if !utf8.ValidRune(r) || !Visible(string(r)) {
		return false
	}
	if r < utf8.RuneSelf && (strings.ContainsRune(special, r) || inClass && r == '-') {
		m.out.WriteByte('\\')
	}
	m.out.WriteRune(r)
	m.rest = m.rest[6:]
	return true
}

func isHex(s string, from, n int) bool {
	if len(s) < from+n {
		return false
	}
	_, err := strconv.ParseUint(s[from:from+n], 16, 32)
	return err == nil
}

func letterOrDigit(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
}

// class takes what is in brackets. A hyphen beside a set, such as that of [\w-.], can only
// be itself.
func (m *patternReader) class() bool {
	m.take(1)
	if strings.HasPrefix(m.rest, "^") {
		m.take(1)
	}
	if strings.HasPrefix(m.rest, "]") { // empty for one, a bracket for the other
		return false
	}
	afterSet, first := false, true
	for m.rest != "" && m.rest[0] != ']' {
		set, ok := false, true
		switch {
		case m.rest[0] == '\\':
			set, ok = m.escape(true)
		case strings.HasPrefix(m.rest, "[:"):
			return false
		case m.rest[0] == '-' && !first && !strings.HasPrefix(m.rest, "-]") && (afterSet || beginsSet(m.rest[1:])):
			m.literally(1)
		default:
			_, size := utf8.DecodeRuneInString(m.rest)
			m.take(size)
		}
		if !ok {
			return false
		}
		afterSet, first = set, false
	}
	if m.rest == "" {
		return false
	}
	m.take(1)
	return true
}

func beginsSet(s string) bool {
	return len(s) > 1 && s[0] == '\\' && strings.IndexByte(sets, s[1]) >= 0
}
