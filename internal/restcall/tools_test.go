package restcall

import (
	"testing"

	"github.com/keystile/keystile/storage/toolplan"
)

// raw is JSON as it is written in a test.
type raw = []byte

// arg is one argument of a tool for tests: its schema, and where it goes.
type arg struct {
	schema string
	place  any // toolplan.Param or toolplan.Field without Arg, or whole
}

type whole struct{}

// pathArg and the like are the usual places.
func pathArg(name string) toolplan.Param {
	return toolplan.Param{Name: name, In: "path", Required: true}
}
func queryArg(name string) toolplan.Param {
	return toolplan.Param{Name: name, In: "query", Explode: true}
}
func headerArg(name string) toolplan.Param { return toolplan.Param{Name: name, In: "header"} }
func fieldArg(name string) toolplan.Field  { return toolplan.Field{Name: name} }

// tool makes a tool; names of args are in the order of the request.
func tool(method, template, contentType string, order []string, args map[string]arg) toolplan.Tool {
	call := &toolplan.Call{Template: template}
	if contentType != "" {
		call.Body = &toolplan.Body{ContentType: contentType}
	}
	schema := `{"type":"object","properties":{`
	for i, name := range order {
		if i > 0 {
			schema += ","
		}
		schema += `"` + name + `":` + args[name].schema
		switch at := args[name].place.(type) {
		case toolplan.Param:
			at.Arg = name
			call.Params = append(call.Params, at)
		case toolplan.Field:
			at.Arg = name
			call.Body.Fields = append(call.Body.Fields, at)
		case whole:
			call.Body.Whole = name
		}
	}
	return toolplan.Tool{Name: "op", Method: method, Description: "op", InputSchema: raw(schema + "}}"), Call: call}
}

// one makes a tool of one argument called x.
func one(method, template, contentType, schema string, place any) toolplan.Tool {
	return tool(method, template, contentType, []string{"x"}, map[string]arg{"x": {schema, place}})
}

// get is a tool without arguments.
var get = toolplan.Tool{Name: "op", Method: "get", Description: "op", InputSchema: raw(`{"type":"object"}`), Call: &toolplan.Call{Template: "/x"}}

// build builds a request against the usual base.
func build(t testing.TB, tool toolplan.Tool, arguments string) (*Request, error) {
	t.Helper()
	return compile(t, tool).Build(Upstream{BaseURL: base}, raw(arguments))
}

// target returns what a request asks for behind the base, or why there is none.
func target(t testing.TB, tool toolplan.Tool, arguments string) string {
	t.Helper()
	r, err := build(t, tool, arguments)
	if err != nil {
		return err.Error()
	}
	return r.url.RequestURI()[len("/v1"):]
}

// The order of a query, its semicolons and what has no value may mean something.
func TestQueryOfATemplateIsSentAsItIsWritten(t *testing.T) {
	for template, want := range map[string]string{
		"/x?b=2&a=1&b=1": "/x?b=2&a=1&b=1", "/x?a=b;c&flag&d=": "/x?a=b;c&flag&d=",
		"/x?a=1+2%20%2f%3F?": "/x?a=1+2%20%2f%3F?",
		"/x?a=b c{d}[e]":     "/x?a=b%20c%7Bd%7D%5Be%5D",
	} {
		plain := get
		plain.Call = &toolplan.Call{Template: template}
		if got := target(t, plain, `{}`); got != want {
			t.Errorf("%s: sent %s, want %s", template, got, want)
		}
	}
}
