package restcall

import (
	"strings"
	"testing"

	"github.com/keystile/keystile/storage/toolplan"
)

func TestPlanThatCannotBeCalledIsRefused(t *testing.T) {
	properties := `{"type":"object","properties":{"x":{"type":"string"}}}`
	x := toolplan.Param{Arg: "x", Name: "x", In: "query"}
	with := func(change func(*toolplan.Param)) *toolplan.Call {
		p := x
		change(&p)
		return &toolplan.Call{Template: "/a", Params: []toolplan.Param{p}}
	}
	for _, c := range []struct {
		name, method, schema string
		call                 *toolplan.Call
		want                 string
	}{
		{"no plan", "get", properties, nil, "called by name"},
		{"a method", "head", properties, with(func(*toolplan.Param) {}), "method"},
		{"no method", "", properties, with(func(*toolplan.Param) {}), "method"},
		{"no schema", "get", ``, with(func(*toolplan.Param) {}), "object schema"},
		{"a schema of a text", "get", `{"type":"string"}`, with(func(*toolplan.Param) {}), "object schema"},
		{"a schema of an object or null", "get", `{"type":["object","null"]}`, with(func(*toolplan.Param) {}), "object schema"},
		{"a schema that is no JSON", "get", `{`, with(func(*toolplan.Param) {}), "object schema"},
		{"a required argument without a property", "get", `{"type":"object","properties":{"x":{}},"required":["y"]}`, with(func(*toolplan.Param) {}), `requires "y"`},
		{"an argument that goes nowhere", "get", properties, &toolplan.Call{Template: "/a"}, "bound 0 times"},
		{"an argument that goes to two places", "get", properties,
			&toolplan.Call{Template: "/{x}", Params: []toolplan.Param{x, {Arg: "x", Name: "x", In: "path"}}}, "bound 2 times"},
		{"an argument in the query and the body", "post", properties,
			&toolplan.Call{Template: "/a", Params: []toolplan.Param{x},
				Body: &toolplan.Body{ContentType: "application/json", Fields: []toolplan.Field{{Arg: "x", Name: "x"}}}},
			"bound 2 times"},
		{"a place without an argument", "get", `{"type":"object"}`, with(func(*toolplan.Param) {}), `"x" is bound`},
		{"a place of the body without an argument", "post", `{"type":"object"}`, &toolplan.Call{Template: "/a", Body: &toolplan.Body{ContentType: "application/json", Whole: "body"}}, `"body" is bound`},
		{"an unknown place", "get", properties, with(func(p *toolplan.Param) { p.In = "body" }),
			"not in path, query, querystring, header or cookie"},
		{"a cookie's name", "get", properties, with(func(p *toolplan.Param) { p.In, p.Name = "cookie", "a;b" }),
			"name of a cookie"},
		{"a style of a form", "post", properties, &toolplan.Call{Template: "/a",
			Body: &toolplan.Body{ContentType: "multipart/form-data",
				Fields: []toolplan.Field{{Arg: "x", Name: "x", Style: "simple"}}}}, "unknown style"},
		{"a type of a part", "post", properties, &toolplan.Call{Template: "/a",
			Body: &toolplan.Body{ContentType: "multipart/form-data",
				Fields: []toolplan.Field{{Arg: "x", Name: "x", ContentType: "text/plain, image"}}}}, "content type"},
		{"a header of a part that says how to read it", "post", properties,
			&toolplan.Call{Template: "/a", Body: &toolplan.Body{ContentType: "multipart/form-data",
				Fields: []toolplan.Field{{Arg: "x", Name: "x",
					Headers: []toolplan.PartHeader{{Name: "Content-Disposition", Value: "a"}}}}}}, "cannot have the header"},
		{"a header of a part with a line break", "post", properties,
			&toolplan.Call{Template: "/a", Body: &toolplan.Body{ContentType: "multipart/form-data",
				Fields: []toolplan.Field{{Arg: "x", Name: "x", Headers: []toolplan.PartHeader{{Name: "X-A", Value: "a\r\nb"}}}}}},
			"cannot have the header"},
		{"a header of a part and a part of one argument", "post", properties,
			&toolplan.Call{Template: "/a", Body: &toolplan.Body{ContentType: "multipart/form-data",
				Fields: []toolplan.Field{{Arg: "x", Name: "x", Headers: []toolplan.PartHeader{{Name: "X-A", Arg: "x"}}}}}},
			"bound 2 times"},
		{"whole and more", "post", properties, &toolplan.Call{Template: "/a",
			Body: &toolplan.Body{ContentType: "application/json", Whole: "x", More: "x"}}, "both"},
		{"more of a text", "post", properties, &toolplan.Call{Template: "/a",
			Body: &toolplan.Body{ContentType: "text/plain", More: "x"}}, "made of fields"},
		{"an unknown style", "get", properties, with(func(p *toolplan.Param) { p.Style = "tabDelimited" }), "unknown style"},
		{"a style of another place", "get", properties, with(func(p *toolplan.Param) { p.Style = "matrix" }),
			"unknown style"},
		{"no name", "get", properties, with(func(p *toolplan.Param) { p.Name = "" }), "no name"},
		{"a header's name", "get", properties, with(func(p *toolplan.Param) { p.In, p.Name = "header", "a b" }),
			"name of a header"},
		{"a header's name with a line break", "get", properties,
			with(func(p *toolplan.Param) { p.In, p.Name = "header", "a\r\nb" }), "name of a header"},
		{"a header's name outside of ASCII", "get", properties,
			with(func(p *toolplan.Param) { p.In, p.Name = "header", "ä" }), "name of a header"},
		{"a name in the query with a line break", "get", properties, with(func(p *toolplan.Param) { p.Name = "a\nb" }),
			"control characters in its name"},
		{"a reserved header", "get", properties, with(func(p *toolplan.Param) { p.In, p.Name = "header", "authorization" }),
			"never an argument"},
		{"a relative template", "get", properties, &toolplan.Call{Template: "a", Params: []toolplan.Param{x}},
			"begin with /"},
		{"no template", "get", properties, &toolplan.Call{Params: []toolplan.Param{x}}, "begin with /"},
		{"dots in the template", "get", properties, &toolplan.Call{Template: "/a/../b", Params: []toolplan.Param{x}}, `segment ".."`},
		{"encoded dots in the template", "get", properties, &toolplan.Call{Template: "/a/.%2E/b", Params: []toolplan.Param{x}}, `segment ".%2E"`},
		{"dots behind an encoded slash in the template", "get", properties,
			&toolplan.Call{Template: "/a/b%2F..%2F..%2Fc", Params: []toolplan.Param{x}}, "segment \"b%2F"},
		{"a dot in the template", "get", properties, &toolplan.Call{Template: "/a/.", Params: []toolplan.Param{x}}, `segment "."`},
		{"a path parameter without a place", "get", properties, &toolplan.Call{Template: "/a/:x",
			Params: []toolplan.Param{{Arg: "x", Name: "x", In: "path"}}}, "no {x}"},
		{"a path parameter in the template's query", "get", properties,
			&toolplan.Call{Template: "/a?x={x}", Params: []toolplan.Param{{Arg: "x", Name: "x", In: "path"}}}, "no {x}"},
		{"a query that cannot be read", "get", properties, &toolplan.Call{Template: "/a?%zz", Params: []toolplan.Param{x}},
			"query of the template"},
		{"a content type", "post", properties, &toolplan.Call{Template: "/a",
			Body: &toolplan.Body{ContentType: "json;;", Whole: "x"}}, "content type"},
		{"a content type with a line break", "post", properties, &toolplan.Call{Template: "/a",
			Body: &toolplan.Body{ContentType: "text/plain\r\nX-Y: z", Whole: "x"}}, "content type"},
		{"whole and fields", "post", properties, &toolplan.Call{Template: "/a",
			Body: &toolplan.Body{ContentType: "application/json", Whole: "x", Fields: []toolplan.Field{{Arg: "x", Name: "x"}}}},
			"both"},
		{"fields of a text", "post", properties, &toolplan.Call{Template: "/a",
			Body: &toolplan.Body{ContentType: "text/plain", Fields: []toolplan.Field{{Arg: "x", Name: "x"}}}}, "made of fields"},
		{"a field's name with a line break", "post", properties, &toolplan.Call{Template: "/a",
			Body: &toolplan.Body{ContentType: "multipart/form-data", Fields: []toolplan.Field{{Arg: "x", Name: "a\nb"}}}},
			"control characters"},
	} {
		p, err := Compile(toolplan.Tool{Name: "op", Method: c.method, InputSchema: raw(c.schema), Call: c.call})
		if p != nil || err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: Compile() = %v, %v, want an error about: %s", c.name, p, err, c.want)
		}
	}
}

func TestPlanErrorsAreReportedAllAtOnce(t *testing.T) {
	_, err := Compile(toolplan.Tool{Name: "op", Method: "trace", InputSchema: raw(`{"type":"object","properties":{"x":{}}}`), Call: &toolplan.Call{
		Template: "a", Params: []toolplan.Param{{Arg: "y", Name: "Host", In: "header"}},
		Body: &toolplan.Body{ContentType: "?"},
	}})
	for _, piece := range []string{"op", `method "trace"`, `"x" is bound 0 times`, `"y" is bound`, "header Host", "begin with /", "content type"} {
		if err == nil || !strings.Contains(err.Error(), piece) {
			t.Errorf("Compile() = %v, want %q in it", err, piece)
		}
	}
}

func TestReservedHeaders(t *testing.T) {
	for header, want := range map[string]bool{
		"Authorization": true, "ACCEPT": true, "content-type": true, "Host": true, "Cookie": true, "Content-Length": true,
		"Connection": true, "Keep-Alive": true, "Proxy-Authorization": true, "Proxy-Connection": true, "TE": true,
		"Trailer":           true,
		"Transfer-Encoding": true, "Upgrade": true, "Mcp-Session-Id": true, "mcp-name": true, "X-Forwarded-For": true,
		"x-forwarded-host": true, "Forwarded": true, "X-Real-IP": true, "Accept-Encoding": true, "Expect": true,
		"X-Keystile-User": true, "X.Keystile~User": true, "X_Forwarded_For": true, "Client-IP": true, "X-Original-URL": true,
		"X-HTTP-Method-Override": true,
		"Api_Key":                false, "X.Own": false, "X-Trace": false, "If-Match": false, "Accept-Language": false,
		"X-API-Key": false,
		"MCP":       false, "Range": false,
	} {
		if got := Reserved(header); got != want {
			t.Errorf("Reserved(%s) = %t, want %t", header, got, want)
		}
	}
}
