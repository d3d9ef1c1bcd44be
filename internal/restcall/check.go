package restcall

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/keystile/keystile/internal/rawjson"
)

// maxComplaints bounds how many problems are reported at once.
const maxComplaints = 8

// complaints collects what is wrong with the arguments of one call.
type complaints []string

func (c *complaints) add(format string, args ...any) {
	if len(*c) < maxComplaints {
		*c = append(*c, fmt.Sprintf(format, args...))
	}
}

// about complains of an argument, or of a place within it.
func (c *complaints) about(at *place, format string, args ...any) {
	c.add("argument %q "+format, append([]any{clip(at.String(), 100)}, args...)...)
}

// place is an argument (no up), a member of it, or an element of it (no name). It becomes
// a text such as tags[2] only if there is something to say.
type place struct {
	up    *place
	name  string
	index int
}

func (p *place) String() string {
	switch {
	case p.up == nil:
		return p.name
	case p.name == "":
		return fmt.Sprintf("%s[%d]", p.up, p.index)
	}
	return p.up.String() + "." + p.name
}

// check complains of what a schema does not admit. The value is sound.
func (s *schema) check(c *complaints, at *place, raw json.RawMessage) {
	switch {
	case s == nil || s.file && raw[0] == '{': // a file is checked when it is read
		return
	case s.nothing:
		c.about(at, "must not be given")
		return
	case len(s.types) > 0 && !slices.ContainsFunc(s.types, func(t string) bool { return is(raw, t) }):
		c.about(at, "must be of type %s", strings.Join(s.types, " or "))
		return
	case s.enum != nil && !s.enum[canonical(raw)]:
		c.about(at, "must be one of: %s", s.enumText)
		return
	}
	switch raw[0] {
	case '"':
		s.checkText(c, at, string(rawjson.Unquote(raw)))
	case '[':
		s.checkList(c, at, raw)
	case '{':
		s.checkObject(c, at, raw)
	case 't', 'f', 'n':
	default:
		s.checkNumber(c, at, parseNumber(string(raw)))
	}
	for _, part := range s.allOf {
		part.check(c, at, raw)
	}
	switch {
	case len(s.anyOf) == 0 || slices.ContainsFunc(s.anyOf, func(part *schema) bool { return part.admits(raw) }):
	case s.file:
		c.about(at, `must be base64, a data URL, or an object {"name","type","data"}`)
	default:
		c.about(at, "has none of the forms its schema allows")
	}
}

func (s *schema) admits(raw json.RawMessage) bool {
	var c complaints
	s.check(&c, &place{}, raw)
	return len(c) == 0
}

func is(raw json.RawMessage, kind string) bool {
	switch raw[0] {
	case '"':
		return kind == "string"
	case '[':
		return kind == "array"
	case '{':
		return kind == "object"
	case 't', 'f':
		return kind == "boolean"
	case 'n':
		return kind == "null"
	}
	return kind == "number" || kind == "integer" && parseNumber(string(raw)).whole()
}

func (s *schema) checkNumber(c *complaints, at *place, n number) {
	for _, b := range s.above {
		switch order := n.compare(b.number); {
		case b.exclusive && order <= 0:
			c.about(at, "must be more than %s", b.text)
		case order < 0:
			c.about(at, "must be at least %s", b.text)
		}
	}
	for _, b := range s.below {
		switch order := n.compare(b.number); {
		case b.exclusive && order >= 0:
			c.about(at, "must be less than %s", b.text)
		case order > 0:
			c.about(at, "must be at most %s", b.text)
		}
	}
}

func (s *schema) checkText(c *complaints, at *place, text string) {
	n := utf8.RuneCountInString(text)
	if n < s.minLength {
		c.about(at, "must have at least %d characters", s.minLength)
	}
	if n > s.maxLength {
		c.about(at, "must have at most %d characters", s.maxLength)
	}
	if s.pattern != nil && !s.pattern.MatchString(text) {
		c.about(at, "must match %s", clip(s.pattern.String(), 300))
	}
}

func (s *schema) checkList(c *complaints, at *place, raw json.RawMessage) {
	n, element := 0, &place{up: at}
	for e := range rawjson.Elements(raw) {
		if element.index = n; len(*c) < maxComplaints {
			s.items.check(c, element, e)
		}
		n++
	}
	if n < s.minList {
		c.about(at, "must have at least %d elements", s.minList)
	}
	if n > s.maxList {
		c.about(at, "must have at most %d elements", s.maxList)
	}
}

func (s *schema) checkObject(c *complaints, at *place, raw json.RawMessage) {
	if len(s.properties) == 0 && len(s.required) == 0 {
		return
	}
	missing := slices.Clone(s.required)
	for text, v := range rawjson.Members(raw) {
		name := string(text)
		missing = slices.DeleteFunc(missing, func(m string) bool { return m == name })
		if inner := s.properties[name]; inner != nil {
			inner.check(c, &place{up: at, name: name}, v)
		}
	}
	for _, name := range missing {
		c.about(&place{up: at, name: name}, "is required")
	}
}
