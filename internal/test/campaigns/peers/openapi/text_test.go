package openapi

import (
	"fmt"
	"math"
	"regexp"
	"regexp/syntax"
	"strings"
	"unicode/utf8"
)

// formatted are texts of the formats that validators know.
var formatted = map[string]string{
	"date-time": "2026-03-04T05:06:07Z", "date": "2026-03-04", "time": "05:06:07Z", "duration": "P1DT2H",
	"uuid": "6f1d2c3b-4a59-4e68-8d77-8c9b0a1f2e3d", "email": "ada@example.com", "hostname": "api.example.com",
	"ipv4": "192.0.2.7", "ipv6": "2001:db8::7", "uri": "https://example.com/a?b=c&d=%20",
	"url":           "https://example.com/a?b=c&d=%20",
	"uri-reference": "/a?b=c", "byte": "aGVsbG8=", "binary": "aGVsbG8=", "base64": "aGVsbG8=",
	"date-time-rfc1123": "Wed, 04 Mar 2026 05:06:07 GMT",
}

// word is a text with what its place has to encode, and without what separates texts there.
func (s *samples) word() string {
	switch {
	case s.place == "header" || s.place == "cookie":
		return fmt.Sprintf("v%d", s.made)
	case s.place == "path" && !s.inner:
		return fmt.Sprintf("p%d ü&+%%41?#", s.made)
	case s.place == "path":
		return fmt.Sprintf("p%dü&+%%41", s.made)
	case s.inner:
		return fmt.Sprintf("w%dü&+%%41", s.made)
	}
	return fmt.Sprintf(`r%d &=+%%41/?#"'ü;,|.`, s.made)
}

func (s *samples) text(schema tree) (any, error) {
	s.made++
	format, _ := schema["format"].(string)
	candidates := []string{formatted[format], s.word(), fmt.Sprintf("v%d", s.made), strings.Repeat("v", 40),
		strings.Repeat("v", 300)}
	pattern := regexp.MustCompile("")
	if text, is := schema["pattern"].(string); is {
		var err error
		if pattern, err = regexp.Compile(text); err != nil {
			return nil, unknown{"a pattern of another dialect"}
		}
		parsed, _ := syntax.Parse(text, syntax.Perl)
		for repeat := range 41 {
			candidates = append(candidates, written(parsed, repeat))
		}
	}
	least, _ := number(schema["minLength"])
	most, err := number(schema["maxLength"])
	if err != nil {
		most = math.Inf(1)
	}
	for _, text := range candidates {
		if n := float64(utf8.RuneCountInString(text)); text != "" && n >= least && n <= most && pattern.MatchString(text) {
			return text, nil
		}
		if cut := []rune(text); float64(len(cut)) > most && most >= least && pattern.MatchString(string(cut[:int(most)])) &&
			most > 0 {
			return string(cut[:int(most)]), nil
		}
	}
	return nil, unknown{"no text of such a pattern or length was found"}
}

// written is a text that a pattern matches, with so many repetitions where any number may be.
func written(p *syntax.Regexp, repeat int) string {
	var out strings.Builder
	switch p.Op {
	case syntax.OpLiteral:
		return string(p.Rune)
	case syntax.OpCharClass:
		return string(oneOf(p.Rune))
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		return "a"
	case syntax.OpAlternate:
		return written(p.Sub[0], repeat)
	case syntax.OpConcat, syntax.OpCapture:
		for _, part := range p.Sub {
			out.WriteString(written(part, repeat))
		}
	case syntax.OpStar, syntax.OpPlus, syntax.OpQuest, syntax.OpRepeat:
		least, most := p.Min, p.Max
		switch p.Op {
		case syntax.OpStar:
			least, most = 0, -1
		case syntax.OpPlus:
			least, most = 1, -1
		case syntax.OpQuest:
			least, most = 0, 1
		}
		if n := max(least, repeat); most < 0 || n <= most {
			return strings.Repeat(written(p.Sub[0], repeat), n)
		}
		return strings.Repeat(written(p.Sub[0], repeat), most)
	}
	return out.String()
}

// oneOf picks a character of a class, a letter or a digit if there is one.
func oneOf(ranges []rune) rune {
	for _, want := range "aA0b1" {
		for i := 0; i < len(ranges); i += 2 {
			if ranges[i] <= want && want <= ranges[i+1] {
				return want
			}
		}
	}
	if ranges[0] < ' ' && ranges[1] > ' ' {
		return ' ' + 1
	}
	return ranges[0]
}
