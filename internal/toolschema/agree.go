package toolschema

import (
	"slices"
	"strconv"
	"strings"

	"github.com/keystile/keystile/internal/toolschema/tree"
)

// agree makes the values that a schema names agree with what it says of their type. A document that says
// `type: string, enum: [0, 1]`, which YAML makes of texts without quotes, means the texts: otherwise
// nothing could ever be given, and strict model APIs refuse the whole list of tools. A keyword whose value no type of
// the schema can have is left out and reported.
func (p *Projection) agree(n Node, out tree.Object) tree.Object {
	if !mayContradict(out) {
		return out // as most schemas are
	}
	for _, key := range []string{"const", "default", "enum"} {
		value, there := out.Lookup(key)
		if !there || plainlyFits(value, out.Get("type"), key == "enum") {
			continue
		}
		fitting, ok := p.fitAll(n, key, value, out)
		switch {
		case !ok:
			p.report(n.Get(key), "no "+key+" of the type that is beside it")
			out = without(out, key)
		case !tree.Equal(fitting, value):
			out = merge(out, tree.Object{{Key: key, Value: fitting}})
		}
	}
	return p.satisfiable(n, out)
}

// ofOneMind takes out of a schema that was put together the keywords that do not apply to its types, and the branches
// of its choice that no value of them can have. Strict validators refuse both.
func ofOneMind(out tree.Object) tree.Object {
	types := typesShown(out)
	if len(types) == 0 {
		return out
	}
	kept := make(tree.Object, 0, len(out))
	for _, m := range out {
		if branches, is := m.Value.(tree.Array); is && m.Key == "anyOf" {
			if m.Value = possible(branches, types); len(m.Value.(tree.Array)) == 0 {
				continue
			}
		}
		if applies(m.Key, types) {
			kept = append(kept, m)
		}
	}
	return kept
}

// possible returns the branches of a choice that values of some types can have, without their other types.
func possible(branches, types tree.Array) (out tree.Array) {
	for _, b := range branches {
		branch, _ := b.(tree.Object)
		own := typesShown(branch)
		common := slices.DeleteFunc(slices.Clone(own), func(t any) bool {
			return !slices.Contains(types, t) && !(t == "integer" && slices.Contains(types, any("number")))
		})
		nested, chooses := branch.Get("anyOf").(tree.Array)
		if chooses && len(own) == 0 {
			if nested = possible(nested, types); len(nested) > 0 {
				out = append(out, merge(branch, tree.Object{{Key: "anyOf", Value: nested}}))
			}
			continue
		}
		switch {
		case len(common) == len(own):
			out = append(out, branch)
		case len(common) == 1:
			out = append(out, ofOneMind(merge(branch, tree.Object{{Key: "type", Value: common[0]}})))
		case len(common) > 1:
			out = append(out, ofOneMind(merge(branch, tree.Object{{Key: "type", Value: common}})))
		}
	}
	return out
}

// plainlyFits reports scalars of the one type that a schema has, each once, as nearly all are.
func plainlyFits(value, t any, enum bool) bool {
	if t == nil || t == "array" || t == "object" {
		return false
	}
	if _, one := t.(string); !one {
		return false
	}
	values, is := value.(tree.Array)
	if !enum || !is {
		return hasType(value, t)
	}
	for i, v := range values {
		if !hasType(v, t) || i < fewValues && slices.ContainsFunc(values[:i], func(w any) bool { return w == v }) {
			return false
		}
	}
	return len(values) <= fewValues
}

// fewValues bounds what is compared with each other.
const fewValues = 32

func without(out tree.Object, key string) tree.Object {
	return slices.DeleteFunc(slices.Clone(out), func(m tree.Member) bool { return m.Key == key })
}

// fitAll is fit for the value of a keyword: of enum for each of its values, each once.
func (p *Projection) fitAll(n Node, key string, value any, schema tree.Object) (any, bool) {
	values, is := value.(tree.Array)
	if key != "enum" || !is {
		return p.fit(value, schema)
	}
	var out tree.Array
	for _, v := range values {
		fitting, ok := p.fit(v, schema)
		switch {
		case v == nil && !ok:
			p.report(n.Get(key), "null is no value of the type that is beside it")
		case !ok:
			return nil, false
		case !slices.ContainsFunc(out, func(v any) bool { return tree.Equal(v, fitting) }):
			out = append(out, fitting)
		}
	}
	return out, len(out) > 0
}

// fit returns a value as the type of a schema has it; it is not ok if that has no such value.
func (b *budget) fit(value any, schema tree.Object) (any, bool) {
	if !b.Step() {
		return nil, false
	}
	types := typesShown(schema)
	if types == nil {
		branches, _ := schema.Get("anyOf").(tree.Array)
		return b.fitAny(value, branches)
	}
	if slices.ContainsFunc(types, func(t any) bool { return hasType(value, t) }) {
		return b.fitMembers(value, schema)
	}
	for _, t := range types {
		if as, ok := convert(value, t); ok {
			return as, true
		}
	}
	return nil, false
}

func (b *budget) fitAny(value any, branches tree.Array) (any, bool) {
	var as any
	found := len(branches) == 0
	if found {
		return value, true
	}
	for i := range branches {
		branch, _ := branches[i].(tree.Object)
		fitting, ok := b.fit(value, branch)
		if ok && tree.Equal(fitting, value) {
			return value, true
		}
		if ok && !found {
			as, found = fitting, true
		}
	}
	return as, found
}

// fitMembers fits the items of an array and the members of an object.
func (b *budget) fitMembers(value any, schema tree.Object) (any, bool) {
	switch v := value.(type) {
	case tree.Array:
		items, _ := schema.Get("items").(tree.Object)
		out := make(tree.Array, len(v))
		for i := range v {
			var ok bool
			if out[i], ok = b.fit(v[i], items); !ok {
				return nil, false
			}
		}
		return out, true
	case tree.Object:
		properties, _ := schema.Get("properties").(tree.Object)
		out := make(tree.Object, len(v))
		for i, m := range v {
			of, _ := properties.Get(m.Key).(tree.Object)
			fitting, ok := b.fit(v.Get(m.Key), of)
			if !ok {
				return nil, false
			}
			out[i] = tree.Member{Key: m.Key, Value: fitting}
		}
		return out, true
	}
	return value, true
}

// typesShown returns the types that a schema shows, nil if it shows none.
func typesShown(schema tree.Object) tree.Array {
	switch t := schema.Get("type").(type) {
	case string:
		return tree.Array{t}
	case tree.Array:
		return t
	}
	return nil
}

func hasType(value, t any) bool {
	switch v := value.(type) {
	case nil:
		return t == "null"
	case bool:
		return t == "boolean"
	case string:
		return t == "string"
	case tree.Number:
		return t == "number" || t == "integer" && whole(string(v))
	case tree.Array:
		return t == "array"
	}
	return t == "object"
}

// whole reports a number without a fraction.
func whole(number string) bool {
	if !strings.ContainsAny(number, ".eE") {
		return true
	}
	f, err := strconv.ParseFloat(number, 64)
	return err == nil && f == float64(int64(f))
}

// convert writes a scalar as another type.
func convert(value, t any) (any, bool) {
	switch v := value.(type) {
	case tree.Number:
		switch {
		case t == "string":
			return string(v), true
		case t == "boolean" && (v == "0" || v == "1"):
			return v == "1", true
		}
	case bool:
		if t == "string" {
			return strconv.FormatBool(v), true
		}
	case string:
		switch t {
		case "number", "integer":
			parsed, err := tree.Parse(v, 0)
			number, is := parsed.(tree.Number)
			return number, err == nil && is && finiteNumber(number) && (t == "number" || whole(v))
		case "boolean":
			word := strings.ToLower(v)
			yes := slices.Contains([]string{"true", "yes", "on"}, word)
			return yes, yes || slices.Contains([]string{"false", "no", "off"}, word)
		}
	}
	return nil, false
}
