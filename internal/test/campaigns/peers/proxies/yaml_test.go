package proxies

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
)

// node is a YAML value: a string, a list or a mapping, as an any, []any or map[string]any.
// parse reads as much YAML as the examples need, and says no to everything else: blocks of
// mappings and lists, flow mappings and lists on one line, scalars on one line.
type parser struct {
	lines []line
	next  int
}

type line struct {
	number, indent int
	text           string
}

var trailing = regexp.MustCompile(`\s+#.*$`)

func parse(t *testing.T, name string) map[string]any {
	t.Helper()
	p := &parser{}
	for i, raw := range strings.Split(read(t, name), "\n") {
		text := strings.TrimLeft(raw, " ")
		if text == "" || strings.HasPrefix(text, "#") {
			continue
		}
		if strings.Contains(text, "\t") || strings.HasPrefix(text, "---") {
			t.Fatalf("%s:%d: a tab, or a second document", name, i+1)
		}
		p.lines = append(p.lines, line{i + 1, len(raw) - len(text), strings.TrimSpace(trailing.ReplaceAllString(text, ""))})
	}
	v, err := p.block(0)
	if err == nil && p.next < len(p.lines) {
		err = p.fail("is indented like nothing above it")
	}
	m, ok := v.(map[string]any)
	if err != nil || !ok {
		t.Fatalf("%s: %v", name, err)
	}
	return m
}

func (p *parser) fail(why string) error {
	l := p.lines[min(p.next, len(p.lines)-1)]
	return fmt.Errorf("line %d: %q %s", l.number, l.text, why)
}

// at reports whether a line of this block comes next.
func (p *parser) at(indent int) bool {
	return p.next < len(p.lines) && p.lines[p.next].indent == indent
}

func (p *parser) block(indent int) (any, error) {
	if p.at(indent) && strings.HasPrefix(p.lines[p.next].text, "- ") {
		return p.list(indent)
	}
	return p.mapping(indent)
}

func (p *parser) list(indent int) (any, error) {
	var list []any
	for p.at(indent) && strings.HasPrefix(p.lines[p.next].text, "- ") {
		l := &p.lines[p.next]
		if rest := l.text[2:]; !pair.MatchString(rest) {
			v, err := scalar(rest)
			if err != nil {
				return nil, p.fail(err.Error())
			}
			list = append(list, v)
			p.next++
			continue
		}
		l.indent, l.text = indent+2, l.text[2:] // the mapping that begins behind the dash
		v, err := p.mapping(indent + 2)
		if err != nil {
			return nil, err
		}
		list = append(list, v)
	}
	return list, nil
}

var pair = regexp.MustCompile(`^("[^"]+"|[A-Za-z@_.-]+):(?: (.*))?$`)

func (p *parser) mapping(indent int) (any, error) {
	m := map[string]any{}
	for p.at(indent) {
		found := pair.FindStringSubmatch(p.lines[p.next].text)
		if found == nil {
			return nil, p.fail("is no key with a value")
		}
		key := strings.Trim(found[1], `"`)
		if _, twice := m[key]; twice {
			return nil, p.fail("is there twice")
		}
		p.next++
		var err error
		switch {
		case found[2] != "":
			if m[key], err = scalar(found[2]); err != nil {
				p.next--
				return nil, p.fail(err.Error())
			}
		case p.next < len(p.lines) && p.lines[p.next].indent > indent:
			if m[key], err = p.block(p.lines[p.next].indent); err != nil {
				return nil, err
			}
		default:
			p.next--
			return nil, p.fail("has no value")
		}
	}
	if len(m) == 0 {
		return nil, p.fail("begins no block")
	}
	return m, nil
}

// scalar reads what stands on one line.
func scalar(text string) (any, error) {
	switch first, last := text[0], text[len(text)-1]; {
	case first == '[' && last == ']':
		var list []any
		for part := range strings.SplitSeq(text[1:len(text)-1], ",") {
			list = append(list, strings.TrimSpace(part))
		}
		return list, nil
	case first == '{' && last == '}':
		m := map[string]any{}
		for part := range strings.SplitSeq(text[1:len(text)-1], ",") {
			found := pair.FindStringSubmatch(strings.TrimSpace(part))
			if found == nil {
				return nil, fmt.Errorf("has a pair that cannot be read: %s", part)
			}
			m[found[1]] = strings.Trim(found[2], `"`)
		}
		return m, nil
	case first == '"' && last == '"' && len(text) > 1 && !strings.ContainsAny(text[1:len(text)-1], `"\`):
		return text[1 : len(text)-1], nil
	case strings.ContainsAny(text[:1], `"'[]{}|>&*!%@`+"`"), strings.Contains(text, ": "), strings.HasSuffix(text, ":"):
		return nil, fmt.Errorf("has a value that this reader does not know")
	}
	return text, nil
}
