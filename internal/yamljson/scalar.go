package yamljson

import (
	"math/big"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/keystile/keystile/internal/rawjson"
)

// core are the tags of scalars in the core schema (YAML 1.2.2, 10.3).
var core = map[string]bool{"!!str": true, "!!null": true, "!!bool": true, "!!int": true, "!!float": true}

// tagOf returns the tag that is written at a node, "" if none is.
func tagOf(n *yaml.Node) string {
	if n.Style&yaml.TaggedStyle == 0 {
		return ""
	}
	return n.Tag
}

const quoted = yaml.SingleQuotedStyle | yaml.DoubleQuotedStyle | yaml.LiteralStyle | yaml.FoldedStyle

func (w *writer) scalar(n *yaml.Node) error {
	asked := tagOf(n)
	if asked == "!!str" || asked == "" && n.Style&quoted != 0 {
		w.out = rawjson.AppendString(w.out, n.Value)
		return nil
	}
	tag, json := resolve(n.Value)
	switch {
	case asked != "" && !core[asked]:
		return wrong(n, "the tag %s has no meaning in JSON: leave it out", asked)
	case tag == "!!int" && asked == "!!float": // every int is one
	case asked != "" && asked != tag:
		return wrong(n, "%.80q is no %s", n.Value, asked)
	case tag == "!!str":
		w.out = rawjson.AppendString(w.out, n.Value)
		return nil
	case json == "":
		return wrong(n, "JSON has no number %.80q: put it in quotes if it is text", n.Value)
	}
	w.out = append(w.out, json...)
	return nil
}

// resolve returns the tag of a plain scalar in the core schema (10.3.2) and, unless that is
// !!str, its JSON: "" if it has none.
func resolve(s string) (tag, json string) {
	switch s {
	case "", "~", "null", "Null", "NULL":
		return "!!null", "null"
	case "true", "True", "TRUE":
		return "!!bool", "true"
	case "false", "False", "FALSE":
		return "!!bool", "false"
	}
	if strings.IndexByte("+-.0123456789", s[0]) < 0 {
		return "!!str", ""
	}
	unsigned := s
	if s[0] == '+' || s[0] == '-' {
		unsigned = s[1:]
	}
	switch {
	case unsigned == ".inf", unsigned == ".Inf", unsigned == ".INF", s == ".nan", s == ".NaN", s == ".NAN":
		return "!!float", ""
	}
	if len(s) > 2 && s[0] == '0' && (s[1] == 'o' || s[1] == 'x') {
		return based(s)
	}
	return decimal(s)
}

// maxDigits bounds the numbers that are written in another base: to turn them takes more
// than linear time.
const maxDigits = 256

// based reads 0o14 and 0xC.
func based(s string) (tag, json string) {
	base, digits := 8, "01234567"
	if s[1] == 'x' {
		base, digits = 16, "0123456789abcdefABCDEF"
	}
	if strings.Trim(s[2:], digits) != "" {
		return "!!str", ""
	}
	if len(s) > maxDigits {
		return "!!int", ""
	}
	n, _ := new(big.Int).SetString(s[2:], base)
	return "!!int", n.String()
}

// decimal reads a number in decimal digits. Forms that JSON does not have, as +1, 012, .5 and 1.,
// become the nearest one that it has; all others stay as they are written.
func decimal(s string) (tag, json string) {
	rest := strings.TrimPrefix(s, "-")
	negative := rest != s
	if !negative {
		rest = strings.TrimPrefix(s, "+")
	}
	whole, rest := digits(rest)
	fraction, point := "", strings.HasPrefix(rest, ".")
	if point {
		fraction, rest = digits(rest[1:])
	}
	exponent := rest
	if whole == "" && fraction == "" || rest != "" && !isExponent(rest) {
		return "!!str", ""
	}
	if whole = strings.TrimLeft(whole, "0"); whole == "" {
		whole = "0"
	}
	var b strings.Builder
	if negative {
		b.WriteByte('-')
	}
	b.WriteString(whole)
	if point {
		b.WriteByte('.')
		if b.WriteString(fraction); fraction == "" {
			b.WriteByte('0')
		}
	}
	b.WriteString(exponent)
	if point || exponent != "" {
		return "!!float", b.String()
	}
	return "!!int", b.String()
}

// digits splits a text behind the decimal digits it begins with.
func digits(s string) (head, rest string) {
	rest = strings.TrimLeft(s, "0123456789")
	return s[:len(s)-len(rest)], rest
}

func isExponent(s string) bool {
	if s[0] != 'e' && s[0] != 'E' {
		return false
	}
	s = s[1:]
	if s != "" && (s[0] == '+' || s[0] == '-') {
		s = s[1:]
	}
	return s != "" && strings.Trim(s, "0123456789") == ""
}
