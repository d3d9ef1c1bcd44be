package restcall

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/keystile/keystile/storage/toolplan"
)

// Plan is a tool that is ready to be called. It is immutable, and safe for concurrent use.
type Plan struct {
	method   string
	template template
	query    []param
	whole    *param  // the argument that is the query, nil: none
	headers  []param // Name in canonical form
	cookies  []param
	body     *body // nil: none
	args     []argument
	index    map[string]int // into args
	accept   []string       // the header Accept
	tells    []string       // headers of answers, in canonical form, that are shown beside those of every answer

	names, cookieNames names // of the query with a form, and of cookies
}

type argument struct {
	name     string
	schema   *schema
	required bool
	data     bool // within a JSON body, where null is a value
}

type param struct {
	toolplan.Param
	arg int
}

// methodQuery is the method of OpenAPI 3.2 that reads, and has a body (draft-ietf-httpbis-safe-method-w-body).
const methodQuery = "QUERY"

// methods of tools (protocol 2.7, and OpenAPI 3.2).
var methods = []string{
	http.MethodGet, http.MethodPost, http.MethodPut, http.MethodDelete, http.MethodPatch, methodQuery,
}

// Compile makes a plan of a tool. Its errors name everything that keeps the tool from
// being called; the registrar can leave such a tool out with that as the reason.
func Compile(tool toolplan.Tool) (*Plan, error) {
	p := &Plan{method: strings.ToUpper(tool.Method)}
	call := tool.Call
	if call == nil {
		return nil, fmt.Errorf("restcall: tool %s: it has no plan of a request: it is called by name", tool.Name)
	}
	var errs []error
	if !slices.Contains(methods, p.method) {
		errs = append(errs, fmt.Errorf("the method %q is none of get, post, put, delete, patch, query",
			clip(tool.Method, 20)))
	}
	errs = append(errs, p.readSchema(tool.InputSchema), p.bind(call), p.readParams(call))
	errs = append(errs, p.readAnswer(call))
	if call.Body != nil {
		var err error
		p.body, err = compileBody(*call.Body, p)
		errs = append(errs, err)
	}
	p.holdNames()
	if err := errors.Join(errs...); err != nil {
		return nil, fmt.Errorf("restcall: tool %s: %w", tool.Name, err)
	}
	return p, nil
}

// readSchema makes the arguments of the properties of an object schema.
func (p *Plan) readSchema(raw json.RawMessage) error {
	s := compileSchema(raw, 0)
	if !slices.Equal(s.types, []string{"object"}) {
		return errors.New("the inputSchema must be an object schema")
	}
	p.index = make(map[string]int, len(s.properties))
	for name, property := range s.properties {
		p.args = append(p.args, argument{name: name, schema: property, required: slices.Contains(s.required, name)})
	}
	slices.SortFunc(p.args, func(a, b argument) int { return strings.Compare(a.name, b.name) })
	for i, a := range p.args {
		p.index[a.name] = i
	}
	for _, name := range s.required {
		if _, ok := p.index[name]; !ok {
			return fmt.Errorf("the inputSchema requires %q, which is none of its properties", clip(name, 64))
		}
	}
	return nil
}

// bind checks that every argument goes to exactly one place.
func (p *Plan) bind(call *toolplan.Call) error {
	places := map[string]int{}
	for _, q := range call.Params {
		places[q.Arg]++
	}
	if b := call.Body; b != nil {
		for _, f := range b.Fields {
			places[f.Arg]++
			for _, h := range f.Headers {
				if h.Arg != "" {
					places[h.Arg]++
				}
			}
		}
		for _, all := range []string{b.Whole, b.More} {
			if all != "" {
				places[all]++
			}
		}
	}
	var errs []error
	for _, a := range p.args {
		if places[a.name] != 1 {
			errs = append(errs, fmt.Errorf("the argument %q is bound %d times, not once", a.name, places[a.name]))
		}
		delete(places, a.name)
	}
	for name := range places {
		errs = append(errs, fmt.Errorf("%q is bound and no property of the inputSchema", clip(name, 64)))
	}
	return errors.Join(errs...)
}

func (p *Plan) readParams(call *toolplan.Call) error {
	var inPath []toolplan.Param
	var errs []error
	for _, q := range call.Params {
		known := styles[q.In]
		switch {
		case known == nil:
			errs = append(errs,
				fmt.Errorf("the parameter %q is in %q, not in path, query, querystring, header or cookie",
					q.Name, q.In))
			continue
		case q.Style != "" && !slices.Contains(known, q.Style):
			errs = append(errs, fmt.Errorf("the parameter %q has the unknown style %q", q.Name, q.Style))
		case q.Name == "":
			errs = append(errs, fmt.Errorf("the parameter of %q has no name", q.Arg))
		case (q.In == "header" || q.In == "cookie") && !headerName(q.Name):
			errs = append(errs, fmt.Errorf("%q cannot be the name of a %s", q.Name, q.In))
		case !plain(q.Name):
			errs = append(errs, fmt.Errorf("the parameter of %q has control characters in its name", q.Arg))
		case q.In == "header" && Reserved(q.Name):
			errs = append(errs, fmt.Errorf("the header %s is never an argument", q.Name))
		}
		at, ok := p.index[q.Arg]
		if !ok {
			continue // bind complains
		}
		p.args[at].required = p.args[at].required || q.Required || q.In == "path"
		switch q.In {
		case "path":
			inPath = append(inPath, q)
		case "query":
			p.query = append(p.query, param{q, at})
		case "querystring":
			p.whole = &param{q, at}
		case "header":
			q.Name = http.CanonicalHeaderKey(q.Name)
			p.headers = append(p.headers, param{q, at})
		case "cookie":
			p.cookies = append(p.cookies, param{q, at})
		}
	}
	var err error
	p.template, err = compileTemplate(call.Template, inPath, p.index)
	return errors.Join(append(errs, err)...)
}
