package toolschema

import (
	"regexp"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/keystile/keystile/internal/toolschema/tree"
)

// A schema may leave nothing that could be given: limits that exclude each other, or each of the values that are
// named. The document is wrong then, and the API takes some of what it excludes: the values count, and the limits are
// left out and reported.

// pairs are limits of which the first must not be more than the second.
var pairs = [][2]string{
	{"minimum", "maximum"}, {"minimum", "exclusiveMaximum"}, {"exclusiveMinimum", "maximum"},
	{"exclusiveMinimum", "exclusiveMaximum"}, {"minLength", "maxLength"}, {"minItems", "maxItems"},
	{"minProperties", "maxProperties"},
}

// mayContradict reports whether a schema names values, or more than one limit.
func mayContradict(out tree.Object) bool {
	limits := 0
	for _, m := range out {
		switch m.Key {
		case "const", "default", "enum":
			return true
		case "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "minLength", "maxLength", "minItems",
			"maxItems", "minProperties", "maxProperties":
			limits++
		}
	}
	return limits > 1
}

// satisfiable leaves out the keywords by which a schema would admit nothing, and a default that it does not admit.
func (p *Projection) satisfiable(n Node, out tree.Object) tree.Object {
	drop := func(key, why string) {
		p.report(n.Get(key), why)
		out = without(out, key)
	}
	values, named := out.Get("enum").(tree.Array)
	if one, is := out.Lookup("const"); is && named && !has(values, one) {
		drop("enum", "it lacks the const that is beside it")
		values = tree.Array{one}
	} else if is {
		values, named = tree.Array{one}, true
	}
	if value, is := out.Lookup("default"); is && named && !has(values, value) {
		drop("default", "the default is none of the values that are beside it")
	}
	for _, key := range []string{
		"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "minLength", "maxLength", "pattern",
	} {
		if limit, is := out.Lookup(key); is && named && p.excludesAll(key, limit, values) {
			drop(key, "it excludes all of the values that are beside it")
		}
	}
	for _, pair := range pairs {
		low, isLow := asFloat(out.Get(pair[0]))
		high, isHigh := asFloat(out.Get(pair[1]))
		strict := pair[0] == "exclusiveMinimum" || pair[1] == "exclusiveMaximum"
		if isLow && isHigh && (low > high || strict && low == high) {
			drop(pair[0], "nothing is within it and "+pair[1])
			drop(pair[1], "nothing is within it and "+pair[0])
		}
	}
	return out
}

func has(values tree.Array, value any) bool {
	return slices.ContainsFunc(values, func(v any) bool { return tree.Equal(v, value) })
}

// excludesAll reports whether a limit applies to at least one of some values and excludes each one to which it applies.
func (b *budget) excludesAll(key string, limit any, values tree.Array) bool {
	var within func(v any) bool
	switch key {
	case "pattern":
		text, _ := limit.(string)
		re, err := regexp.Compile(text)
		if err != nil {
			return false
		}
		within = func(v any) bool { return re.MatchString(v.(string)) }
	case "minLength", "maxLength":
		most, _ := asFloat(limit)
		within = func(v any) bool {
			length := float64(utf8.RuneCountInString(v.(string)))
			return key == "minLength" && length >= most || key == "maxLength" && length <= most
		}
	default:
		bound, _ := asFloat(limit)
		within = func(v any) bool {
			number, _ := asFloat(v)
			switch key {
			case "minimum":
				return number >= bound
			case "maximum":
				return number <= bound
			case "exclusiveMinimum":
				return number > bound
			}
			return number < bound
		}
	}
	some := false
	for _, v := range values {
		if _, number := v.(tree.Number); number != slices.Contains(ofType[key], "number") || !number && !is[string](v) {
			continue
		}
		if some = true; !b.Step() || within(v) {
			return false
		}
	}
	return some
}

func asFloat(v any) (f float64, ok bool) {
	number, is := v.(tree.Number)
	if !is {
		return 0, false
	}
	f, err := strconv.ParseFloat(string(number), 64)
	return f, err == nil
}
