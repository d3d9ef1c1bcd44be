package restcall

import (
	"bytes"
	"encoding/json"
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

// read checks arguments against the tool's schema. No text at all stands for {}.
func (p *Plan) read(raw json.RawMessage, c *complaints) arguments {
	values := make(arguments, len(p.args))
	if len(raw) > maxArguments {
		c.add("the arguments are longer than %d bytes", maxArguments)
		return values
	}
	if raw = bytes.TrimLeft(raw, " \n\t\r"); len(raw) == 0 {
		raw = json.RawMessage("{}")
	}
	if err := rawjson.Check(raw, rawjson.Limits{Depth: maxDepth, Once: true}); err != nil {
		c.add("the arguments %v", err)
		return values
	}
	if raw[0] != '{' && !isNull(raw) {
		c.add("the arguments must be an object")
		return values
	}
	if !isNull(raw) {
		p.assign(raw, values, c)
	}
	for i, a := range p.args {
		switch {
		case values.given(i, p):
			// null fits every optional argument: that of a JSON body is data.
			if a.required || !isNull(values[i]) {
				a.schema.check(c, &place{name: a.name}, values[i])
			}
		case a.required:
			c.add("argument %q is required", a.name)
		}
	}
	return values
}

// assign puts the members of the arguments where they belong.
func (p *Plan) assign(raw json.RawMessage, values arguments, c *complaints) {
	for name, v := range rawjson.Members(raw) {
		if i, ok := p.index[string(name)]; ok {
			values[i] = v
			continue
		}
		c.add("unknown argument %q: %s", clip(string(name), 64), p.knows())
	}
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
