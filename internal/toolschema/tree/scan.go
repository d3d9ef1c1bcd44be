package tree

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"
)

func (p *parser) str() (any, error) {
	text, err := p.literal()
	if err != nil || p.dry {
		return nil, err
	}
	return text, nil
}

// ordinary are the bytes of a string that stand for themselves, which those of other characters than ASCII's do too.
var ordinary = func() (is [256]bool) {
	for c := byte(' '); c < 0x80; c++ {
		is[c] = c != '"' && c != '\\'
	}
	return is
}()

// literal reads a string. Within what is lazy it is "".
func (p *parser) literal() (string, error) {
	start, plain := p.at, true
	for p.at++; ; p.at++ {
		for p.at < len(p.text) && ordinary[p.text[p.at]] {
			p.at++
		}
		switch c := p.next(); {
		case c == '"':
			p.at++
			switch {
			case p.dry:
				return "", nil
			case plain:
				return p.text[start+1 : p.at-1], nil
			}
			return unquoted(p.text[start:p.at]), nil
		case c < ' ':
			return "", p.bad("no end of a string")
		case c == '\\' && !p.escape():
			return "", p.bad("a wrong escape in a string")
		}
		plain = false
	}
}

// escape steps to the last byte of an escape and reports whether it is one.
func (p *parser) escape() bool {
	p.at++
	if p.next() != 'u' {
		return strings.IndexByte(`"\/bfnrt`, p.next()) >= 0
	}
	for range 4 {
		p.at++
		if c := p.next() | 0x20; !('0' <= p.next() && p.next() <= '9' || 'a' <= c && c <= 'f') {
			return false
		}
	}
	return true
}

// unquoted returns what a string literal stands for: a part of the text where it can.
func unquoted(literal string) string {
	inner := literal[1 : len(literal)-1]
	if strings.IndexByte(inner, '\\') < 0 && utf8.ValidString(inner) {
		return inner
	}
	var s string
	json.Unmarshal([]byte(literal), &s) // cannot fail: every escape was looked at
	return s
}

func (p *parser) word(word string, v any) (any, error) {
	if !strings.HasPrefix(p.text[p.at:], word) {
		return nil, p.bad("no JSON value")
	}
	p.at += len(word)
	return v, nil
}

func (p *parser) number() (any, error) {
	start := p.at
	if p.next() == '-' {
		p.at++
	}
	whole := p.at
	ok := p.digits() && (p.text[whole] != '0' || p.at == whole+1)
	if ok && p.next() == '.' {
		p.at++
		ok = p.digits()
	}
	if c := p.next(); ok && (c == 'e' || c == 'E') {
		p.at++
		if c := p.next(); c == '+' || c == '-' {
			p.at++
		}
		ok = p.digits()
	}
	if !ok {
		return nil, p.bad("no JSON value")
	}
	if p.dry {
		return nil, nil
	}
	return Number(p.text[start:p.at]), nil
}

// digits steps over digits and reports whether there was one.
func (p *parser) digits() bool {
	start := p.at
	for c := p.next(); '0' <= c && c <= '9'; c = p.next() {
		p.at++
	}
	return p.at > start
}

// next is the byte that comes, 0 at the end: no JSON has a 0 outside of an escape.
func (p *parser) next() byte {
	if p.at >= len(p.text) {
		return 0
	}
	return p.text[p.at]
}

// takes steps over a byte if it comes, and over blanks after it.
func (p *parser) takes(c byte) bool {
	if p.next() != c {
		return false
	}
	p.at++
	p.blanks()
	return true
}

func (p *parser) blanks() {
	for c := p.next(); c == ' ' || c == '\t' || c == '\n' || c == '\r'; c = p.next() {
		p.at++
	}
}

func (p *parser) bad(what string) error {
	return fmt.Errorf("%s at byte %d", what, min(p.at, len(p.text)))
}
