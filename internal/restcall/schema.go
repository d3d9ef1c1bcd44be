package restcall

import (
	"encoding/json"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/keystile/keystile/internal/rawjson"
)

// schema holds the enforced part of a JSON Schema (2020-12). A nil schema admits everything.
type schema struct {
	nothing            bool     // the schema false
	types              []string // none: any
	enum               map[string]bool
	enumText           string
	above, below       []bound
	minLength, minList int
	maxLength, maxList int
	pattern            *regexp.Regexp
	items              *schema
	properties         map[string]*schema
	required           []string
	anyOf, allOf       []*schema
	binary             bool // format binary: how a plan says of a body that it is bytes that has no other word for it
	file               bool // an object with the bytes, a name and a type may stand for the text
}

type bound struct {
	number
	text      string
	exclusive bool
}

// keywords decodes one keyword at a time, so that a malformed one costs no other.
type keywords map[string]json.RawMessage

// read reports whether a keyword is there and well-formed.
func (k keywords) read(name string, into any) bool {
	raw, ok := k[name]
	return ok && json.Unmarshal(raw, into) == nil
}

var jsonTypes = []string{"null", "boolean", "integer", "number", "string", "array", "object"}

// maxSchema bounds how deeply schemas are compiled; what is deeper is not enforced.
const maxSchema = 16

func compileSchema(raw json.RawMessage, depth int) *schema {
	var k keywords
	if json.Unmarshal(raw, &k) != nil || depth > maxSchema {
		return &schema{nothing: string(raw) == "false", maxLength: math.MaxInt, maxList: math.MaxInt}
	}
	s := &schema{types: k.types()}
	s.compileEnum(k)
	s.above = k.bounds("minimum", "exclusiveMinimum")
	s.below = k.bounds("maximum", "exclusiveMaximum")
	s.minLength, s.maxLength = k.count("minLength", 0), k.count("maxLength", math.MaxInt)
	s.minList, s.maxList = k.count("minItems", 0), k.count("maxItems", math.MaxInt)
	var pattern string
	if k.read("pattern", &pattern) {
		s.pattern, _ = regexp.Compile(pattern) // nil: not RE2
	}
	if raw, ok := k["items"]; ok {
		s.items = compileSchema(raw, depth+1)
	}
	var properties map[string]json.RawMessage
	if k.read("properties", &properties) {
		s.properties = make(map[string]*schema, len(properties))
		for name, raw := range properties {
			s.properties[name] = compileSchema(raw, depth+1)
		}
	}
	k.read("required", &s.required)
	var format string
	s.binary = k.read("format", &format) && format == "binary"
	s.anyOf, s.allOf = k.schemas("anyOf", depth), k.schemas("allOf", depth)
	return s
}

// takeFiles lets a schema of texts that are files admit the objects that readFile reads.
func (s *schema) takeFiles(depth int) {
	if s == nil || depth > maxSchema {
		return
	}
	s.file = !slices.Contains(s.types, "array")
	s.items.takeFiles(depth + 1)
	for _, part := range slices.Concat(s.anyOf, s.allOf) {
		part.takeFiles(depth + 1)
	}
}

func (k keywords) types() []string {
	var one string
	var many []string
	switch {
	case k.read("type", &one):
		many = []string{one}
	case !k.read("type", &many):
		return nil
	}
	if slices.ContainsFunc(many, func(t string) bool { return !slices.Contains(jsonTypes, t) }) {
		return nil
	}
	return many
}

// compileEnum reads enum and const, which is an enum of one.
func (s *schema) compileEnum(k keywords) {
	var values []json.RawMessage
	if only, ok := k["const"]; ok {
		values = []json.RawMessage{only}
	} else if !k.read("enum", &values) {
		return
	}
	s.enum = make(map[string]bool, len(values))
	texts := make([]string, 0, len(values))
	for _, v := range values {
		s.enum[canonical(v)] = true
		texts = append(texts, string(v))
	}
	s.enumText = clip(strings.Join(texts, ", "), 300)
}

func (k keywords) bounds(inclusive, exclusive string) (out []bound) {
	for _, name := range []string{inclusive, exclusive} {
		var n json.Number
		if raw := k[name]; len(raw) > 0 && raw[0] != '"' && k.read(name, &n) && n != "" {
			out = append(out, bound{parseNumber(n.String()), n.String(), name == exclusive})
		}
	}
	return out
}

func (k keywords) count(name string, otherwise int) int {
	var n float64
	if !k.read(name, &n) || n < 0 || n != math.Trunc(n) {
		return otherwise
	}
	return int(min(n, math.MaxInt32))
}

func (k keywords) schemas(name string, depth int) (out []*schema) {
	var list []json.RawMessage
	k.read(name, &list)
	for _, raw := range list {
		out = append(out, compileSchema(raw, depth+1))
	}
	return out
}

// canonical writes equal JSON values equally: numbers by value, objects without an order.
func canonical(raw json.RawMessage) string {
	switch raw[0] {
	case '"':
		return strconv.Quote(string(rawjson.Unquote(raw)))
	case '[':
		var parts []string
		for e := range rawjson.Elements(raw) {
			parts = append(parts, canonical(e))
		}
		return "[" + strings.Join(parts, ",") + "]"
	case '{':
		var parts []string
		for name, v := range rawjson.Members(raw) {
			parts = append(parts, strconv.Quote(string(name))+":"+canonical(v))
		}
		slices.Sort(parts)
		return "{" + strings.Join(parts, ",") + "}"
	case 't', 'f', 'n':
		return string(raw)
	}
	return parseNumber(string(raw)).String()
}

// clip shortens a text for a message, to about n bytes.
func clip(text string, n int) string {
	if len(text) <= n {
		return text
	}
	return strings.ToValidUTF8(text[:n], "") + "..."
}
