package toolschema

import (
	"slices"
	"strconv"
	"strings"

	"github.com/keystile/keystile/internal/toolschema/tree"
)

// keyword returns what is shown of one keyword that is neither type nor structure, nil if
// nothing is, and whether it is wrong rather than merely not for us. The dialects of
// OpenAPI 2.0 and 3.0 become JSON Schema 2020-12.
func (p *Projection) keyword(m tree.Member, in tree.Object, null bool) (value any, wrong bool) {
	switch m.Key {
	case "title", "description":
		if s, is := m.Value.(string); !is {
			return nil, true
		} else if s = Text(s); s != "" {
			return s, false
		}
		return nil, false
	case "format":
		s, is := m.Value.(string)
		return shown(s, s != "" && len(s) <= maxWord && in.Get("type") != "file"), !is
	case "contentMediaType", "contentEncoding":
		s, is := m.Value.(string)
		return shown(s, s != "" && len(s) <= maxWord), !is
	case "pattern":
		s, _ := m.Value.(string)
		mended := p.portable(s)
		return orWrong(mended, mended != "")
	case "enum":
		return p.enum(m.Value, null)
	case "const": // one value that may be null too is rare enough to be left out
		return orWrong(m.Value, !null && m.Value != nil && p.finite(m.Value))
	case "default":
		return orWrong(m.Value, p.finite(m.Value))
	case "minimum":
		return bound(m.Value, in.True("exclusiveMinimum"))
	case "maximum":
		return bound(m.Value, in.True("exclusiveMaximum"))
	case "exclusiveMinimum", "exclusiveMaximum":
		return exclusive(m, in)
	case "multipleOf":
		return orWrong(m.Value, finiteNumber(m.Value) && positive(m.Value))
	case "minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties":
		return orWrong(m.Value, count(m.Value))
	case "uniqueItems", "deprecated":
		return orWrong(m.Value, is[bool](m.Value))
	case "prefixItems", "additionalItems", "contains", "patternProperties", "propertyNames", "dependentRequired",
		"dependentSchemas", "dependencies", "unevaluatedItems", "unevaluatedProperties", "not", "if", "contentSchema",
		"$dynamicRef", "$recursiveRef":
		return nil, m.Value != nil // few clients know them, and strict ones refuse the tool; the upstream checks them
	}
	return nil, false
}

// maxWord bounds the text of keywords that programs read.
const maxWord = 1024

func shown(v any, ok bool) any {
	if !ok {
		return nil
	}
	return v
}

func orWrong(v any, ok bool) (any, bool) { return shown(v, ok), !ok }

func (b *budget) enum(v any, null bool) (any, bool) {
	values, _ := v.(tree.Array)
	if len(values) == 0 || !b.finite(values) {
		return nil, true
	}
	if null && !slices.Contains(values, nil) {
		values = append(slices.Clone(values), nil)
	}
	return values, false
}

// bound is shown by the exclusive keyword if that says so.
func bound(v any, elsewhere bool) (any, bool) {
	if elsewhere {
		return nil, false
	}
	return orWrong(v, finiteNumber(v))
}

// exclusive is a number in JSON Schema, and a flag beside the bound in OpenAPI 2.0 and 3.0.
func exclusive(m tree.Member, in tree.Object) (any, bool) {
	switch m.Value {
	case false:
		return nil, false
	case true:
		bound := in.Get(strings.ToLower(strings.TrimPrefix(m.Key, "exclusive")))
		return orWrong(bound, finiteNumber(bound))
	}
	return orWrong(m.Value, finiteNumber(m.Value))
}

// finite reports whether every number of a value fits a float64, as most clients need.
func (b *budget) finite(v any) bool {
	if !b.Step() {
		return false
	}
	switch v := v.(type) {
	case tree.Number:
		return finiteNumber(v)
	case tree.Array:
		return !slices.ContainsFunc(v, func(v any) bool { return !b.finite(v) })
	case tree.Object:
		return !slices.ContainsFunc(v, func(m tree.Member) bool { return !b.finite(v.Get(m.Key)) })
	}
	return true
}

// hiddenReason is why a keyword is left out: programs compare its value, so it is shown as it
// is or not at all.
const hiddenReason = "it has characters that nobody sees: it is not shown"

// visible reports whether every text of a value is, names of members too. A text that is
// too long to be shown is not looked at: what holds it is refused for that.
func (b *budget) visible(v any) bool {
	switch v := v.(type) {
	case string:
		if b.limits.Bytes > 0 && len(v) > b.limits.Bytes {
			return true
		}
		b.steps += len(v) / bytesPerStep
		return Visible(v)
	case tree.Array:
		return !slices.ContainsFunc(v, func(v any) bool { return !b.visible(v) })
	case tree.Object:
		return !slices.ContainsFunc(v, func(m tree.Member) bool { return !b.visible(m.Key) || !b.visible(v.Get(m.Key)) })
	}
	return true
}

// bytesPerStep is the number of bytes of text that count as one step.
const bytesPerStep = 256

// maxDigits bounds what a client that computes with any number of digits has to do.
const maxDigits = 400

func finiteNumber(v any) bool {
	n, is := v.(tree.Number)
	if !is || len(n) > maxDigits {
		return false
	}
	_, err := strconv.ParseFloat(string(n), 64)
	return err == nil
}

func positive(v any) bool {
	n, _ := v.(tree.Number)
	f, _ := strconv.ParseFloat(string(n), 64)
	return f > 0
}

// count reports a number of things, written plainly.
func count(v any) bool {
	n, _ := v.(tree.Number)
	_, err := strconv.ParseUint(string(n), 10, 53)
	return err == nil
}
