package toolschema

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/keystile/keystile/internal/toolschema/tree"
)

// renamed returns the schema of a tool that is called by its name, with names that model APIs take at every level where
// a model writes one, and the upstream's name for each that was made: see [Restore]. A name that was made stands for
// the same one everywhere, and is none of the schema's own. It does not depend on the order of the properties.
func (f Foreign) renamed(max int) (schema json.RawMessage, known map[string]string, err error) {
	whole := f.object(slices.Concat(f.dialect, f.defs, f.others))
	used := map[string]bool{}
	eachSchema(whole, func(schema tree.Object) tree.Object {
		properties, _ := schema.Get("properties").(tree.Object)
		for _, m := range properties {
			used[m.Key] = true
		}
		return schema
	})
	made := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(used)) {
		if !Legal(name) {
			made[name] = legalName(name, used)
		}
	}
	if len(made) > 0 {
		known = make(map[string]string, len(made))
		for name, as := range made {
			known[as] = name
		}
		whole = eachSchema(whole, func(schema tree.Object) tree.Object { return rename(schema, made) })
	}
	schema, err = write(whole, max)
	return schema, known, err
}

// legalName makes a name that models can use, and marks it as used. It is made as those of the arguments of operations.
func legalName(name string, used map[string]bool) string {
	var b strings.Builder
	run := false
	for _, c := range name {
		if c < 0x80 && Legal(string(c)) {
			b.WriteRune(c)
		} else if !run {
			b.WriteByte('_')
		}
		run = c >= 0x80 || !Legal(string(c))
	}
	base := strings.Trim(b.String(), "_")
	if base == "" {
		base = "arg"
	}
	for n := 1; ; n++ {
		suffix := ""
		if n > 1 {
			suffix = "_" + strconv.Itoa(n)
		}
		if made := base[:min(len(base), maxName-len(suffix))] + suffix; !used[made] {
			used[made] = true
			return made
		}
	}
}

// rename gives the properties of one schema the names that were made.
func rename(schema tree.Object, made map[string]string) tree.Object {
	out := slices.Clone(schema)
	for i, m := range out {
		switch v := m.Value.(type) {
		case tree.Object:
			if m.Key != "properties" {
				continue
			}
			properties := slices.Clone(v)
			for j, property := range properties {
				if name, is := made[property.Key]; is {
					shown, _ := property.Value.(tree.Object)
					properties[j] = tree.Member{Key: name, Value: KnownAs(shown, property.Key)}
				}
			}
			out[i].Value = tree.NewObject(properties...)
		case tree.Array:
			if m.Key != "required" {
				continue
			}
			names := slices.Clone(v)
			for j, name := range names {
				if text, _ := name.(string); made[text] != "" {
					names[j] = made[text]
				}
			}
			out[i].Value = sortedNames(names)
		}
	}
	return out
}

// KnownAs returns the schema of an argument that has another name in the API, by which texts may speak of it.
func KnownAs(schema tree.Object, name string) tree.Object {
	shown := []rune(Text(name))
	if len(shown) == 0 {
		return schema
	}
	if len(shown) > maxName {
		shown = append(shown[:maxName:maxName], '…')
	}
	return Described(schema, `"`+string(shown)+`" in the API. `+schema.Text("description"))
}

// eachSchema returns a schema with what do makes of each schema in it, itself included and the inner ones first.
func eachSchema(schema tree.Object, do func(tree.Object) tree.Object) tree.Object {
	inner := func(v any) any {
		if schema, is := v.(tree.Object); is {
			return eachSchema(schema, do)
		}
		return v
	}
	out := slices.Clone(schema)
	for i, m := range out {
		switch v := m.Value.(type) {
		case tree.Object:
			switch m.Key {
			case "properties", "$defs":
				named := slices.Clone(v)
				for j := range named {
					named[j].Value = inner(named[j].Value)
				}
				out[i].Value = named
			case "items", "additionalProperties":
				out[i].Value = inner(v)
			}
		case tree.Array:
			if m.Key == "anyOf" {
				list := slices.Clone(v)
				for j := range list {
					list[j] = inner(list[j])
				}
				out[i].Value = list
			}
		}
	}
	return do(out)
}
