package openapi

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"slices"
)

// samples makes values that schemas admit, each call another one, in the same order each time.
type samples struct {
	made  int
	place string // where the argument goes that is being made: path, query, header, cookie, body
	inner bool   // within a list or an object
	all   bool   // also what is not required
	left  int    // arguments that are left out, because too little is said of them
}

// unknown stands for what a schema does not tell enough about.
type unknown struct{ why string }

func (u unknown) Error() string { return u.why }

// arguments makes those of a tool, which go to places.
func (s *samples) arguments(schema tree, places map[string]string) (tree, error) {
	properties, _ := schema["properties"].(tree)
	out := tree{}
	for _, name := range sorted(properties) {
		required := slices.Contains(list(schema["required"]), any(name))
		if !required && !s.all {
			continue
		}
		s.place = cmp.Or(places[name], "body")
		v, err := s.value(properties[name])
		if err != nil && required {
			v, err = bare(properties[name], err)
		}
		if err != nil && required {
			return nil, fmt.Errorf("%s: %w", name, err)
		} else if err != nil {
			s.left++
			continue
		}
		out[name] = v
	}
	return out, nil
}

// object fills the properties of an object.
func (s *samples) object(schema tree) (tree, error) {
	properties, _ := schema["properties"].(tree)
	out := tree{}
	for _, name := range sorted(properties) {
		required := slices.Contains(list(schema["required"]), any(name))
		if !required && !s.all {
			continue
		}
		v, err := s.value(properties[name])
		if err != nil && required {
			return nil, fmt.Errorf("%s: %w", name, err)
		} else if err == nil {
			out[name] = v
		}
	}
	if more, is := schema["additionalProperties"].(tree); is && len(properties) == 0 && s.all {
		v, err := s.value(more)
		if err != nil {
			return nil, err
		}
		out["k1"] = v
	}
	if len(out) == 0 && len(properties) == 0 {
		return nil, unknown{"an object of which nothing is said"}
	}
	return out, nil
}

// bare returns a value for where an argument is required of which too little is said.
func bare(of any, why error) (any, error) {
	schema, _ := of.(tree)
	switch kind(schema) {
	case "":
		return "v0", nil
	case "object":
		return tree{}, nil
	case "array":
		return []any{}, nil
	}
	return nil, why
}

func (s *samples) value(of any) (any, error) {
	schema, _ := of.(tree)
	if v, is := schema["const"]; is {
		return v, nil
	}
	if values := list(schema["enum"]); len(values) > 0 {
		s.made++
		if v := values[s.made%len(values)]; v != nil {
			return v, nil
		}
		return values[0], nil
	}
	if v := schema["default"]; v != nil && schema["pattern"] == nil {
		return v, nil
	}
	for _, choice := range []string{"anyOf", "oneOf"} {
		for _, branch := range list(schema[choice]) {
			if schema["properties"] != nil {
				break // the branches only say more of them
			}
			if v, err := s.value(branch); err == nil {
				return v, nil
			}
		}
	}
	switch kind(schema) {
	case "boolean":
		return true, nil
	case "integer", "number":
		return s.number(schema)
	case "string":
		return s.text(schema)
	case "array":
		return s.list(schema)
	case "object":
		before := s.inner
		s.inner = true
		defer func() { s.inner = before }()
		return s.object(schema)
	}
	return nil, unknown{"no type"}
}

// kind is the first type that is not null.
func kind(schema tree) string {
	switch t := schema["type"].(type) {
	case string:
		return t
	case []any:
		for _, one := range t {
			if one != "null" {
				return fmt.Sprint(one)
			}
		}
	}
	if schema["properties"] != nil {
		return "object"
	}
	return ""
}

func (s *samples) number(schema tree) (any, error) {
	s.made++
	v := float64(2 + s.made%7)
	if kind(schema) == "number" {
		v += 0.5
	}
	least, most := bound(schema, "minimum", "exclusiveMinimum", 1), bound(schema, "maximum", "exclusiveMaximum", -1)
	if least != nil {
		v = max(v, *least)
	}
	if most != nil {
		v = min(v, *most)
	}
	if step, err := number(schema["multipleOf"]); err == nil && step > 0 {
		if v = math.Ceil(v/step) * step; most != nil && v > *most {
			v -= step
		}
	}
	if least != nil && v < *least || most != nil && v > *most {
		return nil, unknown{"no number within the bounds was found"}
	}
	return v, nil
}

// bound returns the limit of a number, a little on the safe side where the bound is excluded.
func bound(schema tree, inclusive, exclusive string, inside float64) *float64 {
	if v, err := number(schema[exclusive]); err == nil {
		v += inside
		return &v
	}
	if v, err := number(schema[inclusive]); err == nil {
		return &v
	}
	return nil
}

func (s *samples) list(schema tree) (any, error) {
	n := 2
	if least, err := number(schema["minItems"]); err == nil {
		n = max(n, int(least))
	}
	if most, err := number(schema["maxItems"]); err == nil {
		n = min(n, int(most))
	}
	if n > 16 {
		return nil, unknown{"a list so long"}
	}
	before := s.inner
	s.inner = true
	defer func() { s.inner = before }()
	out, seen := []any{}, map[string]bool{}
	for range n {
		v, err := s.value(schema["items"])
		if err != nil {
			return nil, err
		}
		if text, _ := json.Marshal(v); !seen[string(text)] || schema["uniqueItems"] != true {
			seen[string(text)] = true
			out = append(out, v)
		}
	}
	return out, nil
}
