package yamljson

import (
	"reflect"

	"go.yaml.in/yaml/v3"
)

// state returns what a decoder that has failed knows of the place, which its error does not
// say, or says by another line: line 0 if it cannot be found. It is read where the decoder
// keeps it; of another version of the dependency that keeps it elsewhere only the place in
// messages would be lost, and a test says so.
func state(dec *yaml.Decoder) (problem string, line, column int) {
	all := field(reflect.ValueOf(dec), "parser")
	parser := field(all, "parser")
	mark := field(all, "event", "start_mark") // what was looked at, if the syntax is right
	if p := field(parser, "problem"); p.IsValid() && p.String() != "" {
		problem, mark = p.String(), field(parser, "problem_mark")
		if c := field(parser, "context"); c.IsValid() && c.String() != "" {
			problem += " " + c.String()
		}
	}
	l, c := field(mark, "line"), field(mark, "column")
	if !l.IsValid() || !c.IsValid() {
		return "", 0, 0
	}
	return problem, int(l.Int()) + 1, int(c.Int()) + 1
}

// field goes from field to field, through pointers; the zero Value if one is missing.
func field(v reflect.Value, names ...string) reflect.Value {
	for _, name := range names {
		for v.Kind() == reflect.Pointer {
			v = v.Elem()
		}
		if v.Kind() != reflect.Struct {
			return reflect.Value{}
		}
		v = v.FieldByName(name)
	}
	return v
}
