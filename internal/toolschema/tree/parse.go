package tree

import (
	"errors"
	"slices"
)

// ErrDepth is returned by Parse for a text that nests too deeply.
var ErrDepth = errors.New("nested too deep")

// Parse reads a text that holds one JSON value and nothing else (RFC 8259), with arrays
// and objects at most depth levels deep. Of a key that stands twice the last is kept.
// Bytes that are not UTF-8 become U+FFFD. Any error but ErrDepth names the byte at which
// the text stops being JSON.
func Parse(text string, depth int) (any, error) {
	return ParseLazily(text, depth, func([]string) bool { return false })
}

// ParseLazily is Parse, but the members of objects whose path of keys from the root is
// lazy are only checked, and read when they are looked up. An array takes part in a path
// as "". Reading changes the tree: one that is lazy is for one goroutine at a time.
func ParseLazily(text string, depth int, lazy func(path []string) bool) (any, error) {
	p := parser{text: text, depth: depth, lazy: lazy}
	p.blanks()
	v, err := p.value()
	if err != nil {
		return nil, err
	}
	if p.blanks(); p.at < len(p.text) {
		return nil, p.bad("text after the end of the value")
	}
	return v, nil
}

type parser struct {
	text  string
	at    int
	depth int // levels left

	lazy func(path []string) bool
	path []string
	dry  bool // within what is lazy: nothing is collected

	// The values that all open arrays and objects have collected: each takes its own off the end
	// when it closes, and is so allocated once, at its size.
	members []Member
	items   []any
}

func (p *parser) value() (any, error) {
	switch c := p.next(); c {
	case '{':
		return p.nested(p.object)
	case '[':
		return p.nested(p.array)
	case '"':
		return p.str()
	case 't':
		return p.word("true", true)
	case 'f':
		return p.word("false", false)
	case 'n':
		return p.word("null", nil)
	default:
		return p.number()
	}
}

func (p *parser) nested(read func() (any, error)) (any, error) {
	if p.depth == 0 {
		return nil, ErrDepth
	}
	p.depth--
	p.at++
	p.blanks()
	v, err := read()
	p.depth++
	return v, err
}

func (p *parser) object() (any, error) {
	if p.takes('}') {
		return Object(nil), nil
	}
	start := len(p.members)
	for {
		if p.next() != '"' {
			return nil, p.bad("no member name in quotes")
		}
		key, err := p.literal()
		if err != nil {
			return nil, err
		}
		if p.blanks(); !p.takes(':') {
			return nil, p.bad("no colon after a member name")
		}
		if err := p.member(key); err != nil {
			return nil, err
		}
		if p.blanks(); p.takes('}') {
			break
		}
		if !p.takes(',') {
			return nil, p.bad("no comma between members")
		}
	}
	if p.dry {
		return nil, nil
	}
	own := slices.Clone(p.members[start:])
	clear(p.members[start:])
	p.members = p.members[:start]
	return NewObject(own...), nil
}

// member reads the value of a key.
func (p *parser) member(name string) error {
	if p.dry {
		_, err := p.value()
		return err
	}
	p.path = append(p.path, name)
	start := p.at
	p.dry = p.lazy(p.path)
	v, err := p.value()
	if p.dry {
		v, p.dry = later(p.text[start:p.at]), false
	}
	p.path = p.path[:len(p.path)-1]
	p.members = append(p.members, Member{name, v})
	return err
}

func (p *parser) array() (any, error) {
	if p.takes(']') {
		return Array(nil), nil
	}
	start := len(p.items)
	p.path = append(p.path, "")
	for {
		v, err := p.value()
		if err != nil {
			return nil, err
		}
		if !p.dry {
			p.items = append(p.items, v)
		}
		if p.blanks(); p.takes(']') {
			break
		}
		if !p.takes(',') {
			return nil, p.bad("no comma between values")
		}
	}
	p.path = p.path[:len(p.path)-1]
	if p.dry {
		return nil, nil
	}
	own := slices.Clone(p.items[start:])
	clear(p.items[start:])
	p.items = p.items[:start]
	return Array(own), nil
}
