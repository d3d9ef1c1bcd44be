package restcall

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/keystile/keystile/internal/rawjson"
)

// maxArguments bounds the text of the arguments of one call, in bytes.
const maxArguments = 4 << 20

// arguments are the values of one call, in the order of Plan.args; nil: not given.
type arguments []json.RawMessage

// given reports whether an argument says something. null does so only as data.
func (a arguments) given(i int, p *Plan) bool {
	return a[i] != nil && (p.args[i].data || !isNull(a[i]))
}

// maxDepth bounds how deeply arguments and structured answers are nested.
const maxDepth = 64

// read checks arguments against the tool's schema, and returns the names of those that are ignored too. No text at
// all stands for {}.
func (p *Plan) read(raw json.RawMessage, c *complaints) (values arguments, ignored []string) {
	values = make(arguments, len(p.args))
	if len(raw) > maxArguments {
		c.add("the arguments are longer than %d bytes", maxArguments)
		return values, nil
	}
	if raw = bytes.TrimLeft(raw, " \n\t\r"); len(raw) == 0 {
		raw = json.RawMessage("{}")
	}
	if err := rawjson.Check(raw, rawjson.Limits{Depth: maxDepth, Once: true}); err != nil {
		c.add("the arguments %v", err)
		return values, nil
	}
	if raw[0] == '"' {
		raw = inText(raw)
	}
	if raw[0] != '{' && !isNull(raw) {
		c.add("the arguments must be an object")
		return values, nil
	}
	if !isNull(raw) {
		ignored = p.assign(raw, values, c)
	}
	for i, a := range p.args {
		switch {
		case values.given(i, p):
			// null fits every optional argument: that of a JSON body is data.
			if a.required || !isNull(values[i]) {
				values[i] = a.check(values[i], c)
			}
		case a.required:
			c.add("argument %q is required", a.name)
		}
	}
	return values, ignored
}

// check complains of a value that the argument does not admit, and returns what is meant by it.
func (a *argument) check(raw json.RawMessage, c *complaints) json.RawMessage {
	before := len(*c)
	if a.schema.check(c, &place{name: a.name}, raw); len(*c) == before {
		return raw
	}
	meant, ok := a.schema.decodedText(raw)
	if !ok {
		return raw
	}
	*c = (*c)[:before]
	return meant
}

// assign puts the members of the arguments where they belong, and returns the names of those that are ignored.
func (p *Plan) assign(raw json.RawMessage, values arguments, c *complaints) (ignored []string) {
	var unknown []string
	for name, v := range rawjson.Members(raw) {
		if i, ok := p.index[string(name)]; ok {
			values[i] = v
		} else {
			unknown = append(unknown, string(name))
		}
	}
	if len(unknown) == 0 {
		return nil
	}
	ignored = noiseAmong(unknown)
	for _, name := range unknown {
		if len(*c) < maxComplaints && !slices.Contains(ignored, name) {
			c.add("unknown argument %q: %s", clip(name, 64), p.knows())
		}
	}
	return ignored
}

func isNull(raw json.RawMessage) bool { return len(raw) > 0 && raw[0] == 'n' }

// knows names the arguments there are.
func (p *Plan) knows() string {
	if len(p.args) == 0 {
		return "this tool takes none"
	}
	var names []string
	for _, a := range p.args {
		names = append(names, a.name)
	}
	return "this tool takes " + clip(strings.Join(names, ", "), 300)
}
