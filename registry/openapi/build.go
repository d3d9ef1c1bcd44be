package openapi

import (
	"fmt"
	"slices"
	"strings"

	"github.com/keystile/keystile/internal/toolschema"
	"github.com/keystile/keystile/internal/toolschema/tree"
	"github.com/keystile/keystile/storage/toolplan"
)

// build makes the tool of an operation. It fails if the tool passes a limit.
func (d *document) build(op operation, name string, limits toolschema.Limits) (toolplan.Tool, error) {
	view := d.Projection(limits, d.skips.add)
	parameters := d.parameters(op, view)
	op.template = withoutDeclared(fitTemplate(op.template, parameters), parameters)
	params := d.params(op, parameters, view)
	body := d.body(op, parameters, view)
	d.dropFixedFields(op, body)
	d.listCallbacks(op)
	d.steps += view.Steps()
	if err := view.Err(); err != nil {
		return toolplan.Tool{}, err
	}
	if view.Unexpanded() {
		d.unexpanded++
	}
	if n, there := view.AnswerOnly(); there {
		d.skips.addUsual(n, "a field that is readOnly is no argument: answers alone have it")
	}
	path := publicPath(op.template)
	call := &toolplan.Call{Template: strings.Clone(op.template)}
	d.answers(op, call)
	return plan{
		params: params, body: body,
		tool: toolplan.Tool{
			Name: name, Method: op.method, Path: strings.Clone(path), Description: op.description(path),
			Call: call,
		},
	}.bind(d.options)
}

// params returns the arguments that go to the path, the query, the headers and the
// cookies. A placeholder that is not declared is a string; what is declared for no
// placeholder is no argument, and neither is a cookie that an operation does without, nor
// what the upstream sets itself.
func (d *document) params(op operation, parameters []parameter, view *toolschema.Projection) (out []argument) {
	unfilled := placeholders(op.template)
	out = make([]argument, 0, len(parameters)+len(unfilled))
	for _, p := range parameters {
		at := placeholderOf(p, unfilled)
		if p.in == "body" || p.in == "formData" || d.leaveOut(op, p, at >= 0) {
			continue
		}
		if p.in == "querystring" {
			if slices.ContainsFunc(parameters, p.besideQuery) {
				d.skips.add(p.node,
					fmt.Sprintf("the querystring %q is beside other parameters of the query, which OpenAPI forbids",
						p.name))
				continue
			}
			out = append(out, d.queryString(p, view)...)
			continue
		}
		a, ok := d.argument(p, view)
		if !ok {
			// where that leads is listed too
			if schema, is := p.Get("schema").(tree.Object); is && schema.Get("$ref") != nil {
				d.skips.add(p.node, fmt.Sprintf("the schema of the %s parameter %q cannot be shown", p.in, p.name))
			}
			continue
		}
		if p.in == "path" {
			a.Name = unfilled[at]
			a.param.AllowReserved = a.param.AllowReserved || slices.Contains(op.slashed, a.Name)
			unfilled = slices.Delete(unfilled, at, at+1)
		}
		out = append(out, a)
	}
	for _, name := range unfilled {
		out = append(out, argument{
			in: "path", param: toolplan.Param{AllowReserved: slices.Contains(op.slashed, name)},
			Field: toolschema.Field{Name: name, Required: true, Schema: tree.Object{{Key: "type", Value: "string"}}},
		})
	}
	return out
}

// placeholderOf returns the index of the placeholder that a path parameter fills, -1 if there is none. Its
// name may be written as the path had it: id:int.
func placeholderOf(p parameter, unfilled []string) int {
	if p.in != "path" {
		return -1
	}
	if at := slices.Index(unfilled, p.name); at >= 0 {
		return at
	}
	name, _ := placeholderName(p.name)
	return slices.Index(unfilled, name)
}

// description returns the description of a tool, for users and models; it is never empty. What
// a path says of all its operations is better than its name.
func (op operation) description(path string) string {
	for _, n := range []toolschema.Node{op.node, op.item} {
		for _, key := range []string{"summary", "description"} {
			text, _ := n.Get(key).Value.(string)
			if text = toolschema.Text(text); text != "" {
				return strings.Clone(text)
			}
		}
	}
	return toolschema.Text(strings.ToUpper(op.method) + " " + path)
}

// plan is a tool whose arguments are known and not yet named.
type plan struct {
	tool   toolplan.Tool
	params []argument
	body   *body
	rest   tree.Object // what the schema says beside its arguments
}

// bind names the arguments and binds each of them once.
func (p plan) bind(o Options) (toolplan.Tool, error) {
	args := make([]*argument, 0, len(p.params))
	for i := range p.params {
		args = append(args, &p.params[i])
	}
	if p.body != nil {
		for i := range p.body.args {
			a := &p.body.args[i]
			args = append(args, a)
			if a.form == nil {
				continue
			}
			for _, h := range a.form.headers {
				if h.arg != nil {
					args = append(args, h.arg)
				}
			}
		}
	}
	if len(args) > o.MaxProperties {
		return toolplan.Tool{}, fmt.Errorf("it has more than %d properties", o.MaxProperties)
	}
	nameArguments(args)
	input := make(toolschema.Input, 0, len(args))
	for _, a := range args {
		needed := a.Required && (a.in != "body" || p.body.Required)
		input = append(input, toolschema.Field{Name: a.as, Schema: a.described(), Required: needed})
	}
	var err error
	rest := append(slices.Clone(p.rest), tree.Member{Key: "additionalProperties", Value: false}) // any other is refused
	if p.tool.InputSchema, err = input.With(rest, o.MaxSchema); err != nil {
		return toolplan.Tool{}, err
	}
	for _, a := range p.params {
		a.param.Arg, a.param.Name, a.param.In, a.param.Required = a.as, strings.Clone(a.Name), a.in, a.Required
		p.tool.Call.Params = append(p.tool.Call.Params, a.param)
	}
	p.tool.Call.Body = p.body.bind()
	return p.tool, nil
}

// bind returns the plan of a body whose arguments are named.
func (b *body) bind() *toolplan.Body {
	if b == nil {
		return nil
	}
	out := b.Body
	out.ContentType = strings.Clone(out.ContentType)
	if b.whole {
		out.Whole = b.args[0].as
		return &out
	}
	for i := range b.args {
		a := &b.args[i]
		if a.more {
			out.More = a.as
			continue
		}
		var f toolplan.Field
		if a.form != nil {
			f = a.form.bind()
		}
		f.Arg, f.Name, f.Required = a.as, strings.Clone(a.Name), a.Required
		if a.file && (f.Style == "" || !a.orText) {
			f.File, f.OrText = true, a.orText
		}
		out.Fields = append(out.Fields, f)
	}
	return &out
}

// bind returns how a field is written, its headers with the names of their arguments.
func (f *formField) bind() toolplan.Field {
	out := f.Field
	for _, h := range f.headers {
		if h.arg != nil {
			h.Arg = h.arg.as
		}
		out.Headers = append(out.Headers, h.PartHeader)
	}
	return out
}
