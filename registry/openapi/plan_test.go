package openapi

import (
	"strings"
	"testing"
)

// Decisions 38 and 41: what is shown is also what is sent.
func TestPlanSendsParameters(t *testing.T) {
	for _, c := range []struct{ name, version, path, parameters, want string }{
		{"the defaults of 3.x", three, "/a/{p}", `{"name":"p","in":"path","schema":{}},{"name":"q","in":"query","schema":{}},{"name":"H","in":"header","schema":{}}`,
			`[{"arg":"p","name":"p","in":"path","required":true},{"arg":"q","name":"q","in":"query","explode":true},{"arg":"H","name":"H","in":"header"}]`},
		{"explode said", three, "/", `{"name":"q","in":"query","explode":false,"schema":{}},{"name":"h","in":"header","explode":true,"schema":{}}`,
			`[{"arg":"q","name":"q","in":"query"},{"arg":"h","name":"h","in":"header","explode":true}]`},
		{"styles", three, "/{m}", `{"name":"d","in":"query","style":"deepObject","schema":{}},{"name":"s","in":"query","style":"spaceDelimited","schema":{}},{"name":"f","in":"query","style":"form","schema":{}},{"name":"m","in":"path","style":"matrix","explode":true,"schema":{}}`,
			`[{"arg":"d","name":"d","in":"query","style":"deepObject","explode":true},{"arg":"s","name":"s","in":"query","style":"spaceDelimited"},{"arg":"f","name":"f","in":"query","explode":true},{"arg":"m","name":"m","in":"path","style":"matrix","explode":true,"required":true}]`},
		{"slashes that stay", three, "/{p}/{r}", `{"name":"p","in":"path","allowReserved":true,"schema":{}},{"name":"r","in":"path","allowReserved":"yes","schema":{}},{"name":"q","in":"query","allowReserved":true,"schema":{}}`,
			`[{"arg":"p","name":"p","in":"path","required":true,"allow_reserved":true},{"arg":"r","name":"r","in":"path","required":true},{"arg":"q","name":"q","in":"query","explode":true}]`},
		{"a style of another place", three, "/", `{"name":"q","in":"query","style":"simple","schema":{}}`,
			`[{"arg":"q","name":"q","in":"query","explode":true}]`},
		{"JSON in a parameter", three, "/", `{"name":"q","in":"query","required":true,"content":{"application/json":{"schema":{"type":"object"}}}},{"name":"t","in":"query","content":{"text/plain":{"schema":{"type":"string"}}}}`,
			`[{"arg":"q","name":"q","in":"query","required":true,"json":true},{"arg":"t","name":"t","in":"query","explode":true}]`},
		{"the lists of 2.0", two, "/{p}", `{"name":"d","in":"query","type":"array","items":{"type":"string"}},{"name":"m","in":"query","type":"array","collectionFormat":"multi"},{"name":"s","in":"query","type":"array","collectionFormat":"ssv"},{"name":"b","in":"query","type":"array","collectionFormat":"pipes"},{"name":"p","in":"path","type":"array","collectionFormat":"csv"}`,
			`[{"arg":"d","name":"d","in":"query"},{"arg":"m","name":"m","in":"query","explode":true},{"arg":"s","name":"s","in":"query","style":"spaceDelimited"},{"arg":"b","name":"b","in":"query","style":"pipeDelimited"},{"arg":"p","name":"p","in":"path","required":true}]`},
		{"lists of 2.0 that nothing writes", two, "/", `{"name":"t","in":"query","type":"array","collectionFormat":"tsv"},{"name":"h","in":"header","type":"array","collectionFormat":"multi"}`,
			`[{"arg":"t","name":"t","in":"query"},{"arg":"h","name":"h","in":"header"}]`},
		{"a parameter of 2.0 in a document of 3.0", three, "/", `{"name":"q","in":"query","type":"array","collectionFormat":"pipes"},{"name":"r","in":"query","type":"array","collectionFormat":"csv"}`,
			`[{"arg":"q","name":"q","in":"query","style":"pipeDelimited"},{"arg":"r","name":"r","in":"query"}]`},
		{"one header in two spellings", three, "/", `{"name":"X-Id","in":"header","schema":{}},{"name":"x-id","in":"header","required":true,"schema":{}}`,
			`[{"arg":"x-id","name":"x-id","in":"header","required":true}]`},
		{"names that models cannot use", three, "/", `{"name":"a[b]","in":"query","schema":{}},{"name":"过滤","in":"query","schema":{}},{"name":"滤过","in":"query","schema":{}},{"name":"a_b","in":"query","schema":{}},{"name":"a[b","in":"query","schema":{}}`,
			`[{"arg":"query_a_b","name":"a[b]","in":"query","explode":true},{"arg":"arg","name":"过滤","in":"query","explode":true},{"arg":"query_arg","name":"滤过","in":"query","explode":true},{"arg":"a_b","name":"a_b","in":"query","explode":true},{"arg":"query_a_b_2","name":"a[b","in":"query","explode":true}]`},
		{"names that are too long", three, "/", `{"name":"` + x70 + `a","in":"query","schema":{}},{"name":"` + x70 + `b","in":"query","schema":{}},{"name":"` + x70 + `c","in":"query","schema":{}}`,
			`[{"arg":"` + x70[:64] + `","name":"` + x70 + `a","in":"query","explode":true},{"arg":"query_` + x70[:58] + `","name":"` + x70 + `b","in":"query","explode":true},{"arg":"query_` + x70[:56] + `_2","name":"` + x70 + `c","in":"query","explode":true}]`},
		{"a placeholder twice, one that is declared for nothing", three, "/{a}/x/{a}", `{"name":"z","in":"path","schema":{}}`,
			`[{"arg":"a","name":"a","in":"path","required":true}]`},
		{"places that are no arguments", three, "/", `{"name":"c","in":"cookie","schema":{}},{"name":"q","in":"querystring","schema":{}},{"name":"Mcp-Session-Id","in":"header","schema":{}},{"name":"proxy-X","in":"header","schema":{}},{"name":"X-Real-IP","in":"header","schema":{}},{"name":"a b","in":"header","schema":{}},{"name":"a\r\nb","in":"header","schema":{}}`,
			`null`},
	} {
		document := `{` + c.version + `,"paths":{"` + c.path + `":{"get":{"parameters":[` + c.parameters + `]}}}}`
		tool := parsed(t, []byte(document), Options{}).Tools[0]
		if got := string(encode(t, tool.Call.Params)); got != c.want {
			t.Errorf("%s: params = %s\nwant %s", c.name, got, c.want)
		}
		if tool.Call.Template != c.path || tool.Call.Body != nil {
			t.Errorf("%s: call = %+v, want the template %s and no body", c.name, tool.Call, c.path)
		}
		sound(t, tool)
	}
}

const x70 = "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"

const (
	two   = `"swagger":"2.0"`
	three = `"openapi":"3.0.3"`
)

func TestPlanSendsBodies(t *testing.T) {
	object := `{"type":"object","required":["a"],"properties":{"b":{"type":"string"},"a":{"type":"string"}}}`
	fields := `"fields":[{"arg":"a","name":"a","required":true},{"arg":"b","name":"b"}]`
	content := func(kind, schema string) string {
		return `"requestBody":{"required":true,"content":{"` + kind + `":{"schema":` + schema + `}}}`
	}
	for _, c := range []struct{ name, version, operation, want string }{
		{"required", three, content("application/json", object), `{"content_type":"application/json",` + fields + `,"required":true}`},
		{"optional: its own list still holds as soon as there is a body", three, `"requestBody":{"content":{"application/json":{"schema":` + object + `}}}`, `{"content_type":"application/json",` + fields + `}`},
		{"parameters of a media type", three, content("Application/JSON; charset=utf-8", object), `{"content_type":"application/json",` + fields + `,"required":true}`},
		{"a kind of JSON", three, content("application/merge-patch+json", object), `{"content_type":"application/merge-patch+json",` + fields + `,"required":true}`},
		{"any type", three, content("*/*", object), `{"content_type":"application/json",` + fields + `,"required":true}`},
		{"any type before a form", three, `"requestBody":{"content":{"*/*":{"schema":` + object + `},"application/x-www-form-urlencoded":{"schema":{}},"application/zip":{}}}`, `{"content_type":"application/json",` + fields + `}`},
		{"a form before a multipart before others", three, `"requestBody":{"content":{"multipart/form-data":{},"application/zip":{},"application/x-www-form-urlencoded":{"schema":` + object + `}}}`, `{"content_type":"application/x-www-form-urlencoded",` + fields + `}`},
		{"a form", three, content("application/x-www-form-urlencoded", object), `{"content_type":"application/x-www-form-urlencoded",` + fields + `,"required":true}`},
		{"files of 3.0, also behind a reference", three, `"x":{"type":"string","format":"binary"},` + content("multipart/form-data", `{"properties":{"f":{"type":"string","format":"binary"},"g":{"$ref":"#/paths/~1a/post/x"},"t":{"type":"string"}}}`),
			`{"content_type":"multipart/form-data","fields":[{"arg":"f","name":"f","file":true},{"arg":"g","name":"g","file":true},{"arg":"t","name":"t"}],"required":true}`},
		{"files of 3.1", three, content("multipart/form-data", `{"properties":{"f":{"contentMediaType":"image/png"},"e":{"type":"string","contentMediaType":"image/png","contentEncoding":"base64"}}}`),
			`{"content_type":"multipart/form-data","fields":[{"arg":"e","name":"e"},{"arg":"f","name":"f","file":true,"content_type":"image/png"}],"required":true}`},
		{"bytes in JSON are text", three, content("application/json", `{"properties":{"f":{"type":"string","format":"binary"}}}`), `{"content_type":"application/json","fields":[{"arg":"f","name":"f"}],"required":true}`},
		{"a list", three, content("application/json", `{"type":"array","items":{}}`), `{"content_type":"application/json","whole":"body","required":true}`},
		{"an object about which nothing is said", three, content("application/json", `{"type":"object"}`), `{"content_type":"application/json","whole":"body","required":true}`},
		{"no schema", three, `"requestBody":{"content":{"application/json":{}}}`, `{"content_type":"application/json","whole":"body"}`},
		{"a choice of which one is no object", three, content("application/json", `{"oneOf":[{"properties":{"a":{"type":"string"}}},{"type":"array","items":{"type":"string"}}]}`), `{"content_type":"application/json","whole":"body","required":true}`},
		{"a choice with null", three, content("application/json", `{"anyOf":[`+object+`,{"type":"null"}]}`), `{"content_type":"application/json",` + fields + `,"required":true}`},
		{"XML is text", three, content("application/xml", object), `{"content_type":"application/xml","whole":"body","required":true}`},
		{"no content", three, `"requestBody":{"content":{}}`, `null`},
		{"content that is none", three, `"requestBody":{"content":{"application/json":7,"nonsense":{}}}`, `null`},
		{"a body and a parameter of one name", three, `"parameters":[{"name":"body","in":"query","schema":{}}],` + content("application/json", `{"type":"string"}`), `{"content_type":"application/json","whole":"body_body","required":true}`},
		{"2.0", two, `"parameters":[{"name":"x","in":"body","required":true,"schema":` + object + `}]`, `{"content_type":"application/json",` + fields + `,"required":true}`},
		{"2.0, what it consumes", two, `"consumes":["text/plain","application/vnd.x+json"],"parameters":[{"name":"x","in":"body","schema":` + object + `}]`, `{"content_type":"application/vnd.x+json",` + fields + `}`},
		{"2.0, of several alike the first by the alphabet", two, `"consumes":["text/plain","text/csv"],"parameters":[{"name":"x","in":"body","schema":{}}]`, `{"content_type":"text/csv","whole":"body"}`},
		{"2.0, a form", two, `"parameters":[{"name":"z","in":"formData","type":"string"},{"name":"a","in":"formData","type":"string","required":true}]`,
			`{"content_type":"application/x-www-form-urlencoded","fields":[{"arg":"z","name":"z"},{"arg":"a","name":"a","required":true}],"required":true}`},
		{"2.0, a multipart", two, `"consumes":["multipart/form-data"],"parameters":[{"name":"z","in":"formData","type":"string"}]`, `{"content_type":"multipart/form-data","fields":[{"arg":"z","name":"z"}]}`},
		{"2.0, a file is never in a form", two, `"consumes":["application/x-www-form-urlencoded"],"parameters":[{"name":"z","in":"formData","type":"file"}]`, `{"content_type":"multipart/form-data","fields":[{"arg":"z","name":"z","file":true}]}`},
		{"2.0, a body and a form", two, `"parameters":[{"name":"z","in":"formData","type":"file"},{"name":"x","in":"body","schema":` + object + `}]`, `{"content_type":"application/json",` + fields + `}`},
		{"a body of 2.0 in a document of 3.0", three, `"parameters":[{"name":"x","in":"body","schema":` + object + `}]`, `{"content_type":"application/json",` + fields + `}`},
		{"a body of 3.0 in a document of 2.0", two, content("application/json", object), `null`},
	} {
		document := `{` + c.version + `,"paths":{"/a":{"post":{` + c.operation + `}}}}`
		tool := parsed(t, []byte(document), Options{}).Tools[0]
		if got := string(encode(t, tool.Call.Body)); got != c.want {
			t.Errorf("%s: body = %s\nwant %s", c.name, got, c.want)
		}
		sound(t, tool)
	}
}

func TestDocumentWideConsumes(t *testing.T) {
	tool := parsed(t, []byte(`{"swagger":"2.0","consumes":["application/hal+json"],"paths":{"/a":{"post":{"parameters":[{"name":"x","in":"body","schema":{}}]}}}}`), Options{}).Tools[0]
	if tool.Call.Body.ContentType != "application/hal+json" {
		t.Errorf("content type = %s, want the document's", tool.Call.Body.ContentType)
	}
}

func TestOperationOverridesItsPathInPlace(t *testing.T) {
	tool := parsed(t, []byte(`{"openapi":"3.0.3","paths":{"/a":{"parameters":[{"name":"x","in":"query","schema":{}},{"name":"y","in":"query","schema":{}}],
		"get":{"parameters":[{"name":"z","in":"query","schema":{}},{"name":"x","in":"query","required":true,"schema":{}},{"name":"x","in":"header","schema":{}}]}}}}`), Options{}).Tools[0]
	var order []string
	for _, p := range tool.Call.Params {
		order = append(order, p.In+" "+p.Name+" "+p.Arg)
	}
	if got, want := strings.Join(order, ", "), "query x x, query y y, query z z, header x header_x"; got != want {
		t.Errorf("params = %s, want %s", got, want)
	}
	if !tool.Call.Params[0].Required {
		t.Error("the path item's x was kept, want the operation's")
	}
}

func TestDescriptionIsNeverEmptyOrUnsafe(t *testing.T) {
	for _, c := range []struct{ operation, want string }{
		{`"summary":"List","description":"Lists all"`, "List"},
		{`"summary":" \n","description":"Lists all"`, "Lists all"},
		{`"summary":7,"description":null`, "GET /a/:id"},
		{``, "GET /a/:id"},
		{`"summary":"a\u0000b\u001b[31m\u202ec\u2066\u009bd\nnext\ttab\udb40\udc41"`, "ab[31mcd next tab"},
		{`"summary":"` + strings.Repeat("é", 2000) + `"`, strings.Repeat("é", 1024)},
	} {
		tool := parsed(t, []byte(`{"openapi":"3.0.3","paths":{"/a/{id}":{"get":{`+c.operation+`}}}}`), Options{}).Tools[0]
		if tool.Description != c.want {
			t.Errorf("description of {%.60s} = %.60q, want %.60q", c.operation, tool.Description, c.want)
		}
	}
}

// How bytes are given, as schemas say it.
const (
	howBytes = "bytes: base64, a data URL, or an object with data, name and type"
	asObject = closed + `"properties":{"data":{"description":"base64 or a data URL","type":"string"},` +
		`"name":{"description":"file name","type":"string"},` +
		`"type":{"description":"media type, such as image/png","type":"string"}},"required":["data"],"type":"object"}`
)

func TestPlanShowsABodyThatIsOneArgument(t *testing.T) {
	for _, c := range []struct{ name, version, operation, want string }{
		{"XML", three, `"requestBody":{"content":{"application/xml":{"schema":{"properties":{"a":{}}}}}}`,
			`{"description":"the whole body, as application/xml. Fields: a","type":"string"}`},
		{"a type nothing is said about", three, `"requestBody":{"content":{"image/png":{}}}`,
			`{"anyOf":[{"type":"string"},` + asObject + `],"description":"the whole body, as image/png (` + howBytes +
				`)"}`},
		{"text", three, `"requestBody":{"content":{"text/plain":{"schema":{"type":"string","maxLength":9}}}}`, `{"maxLength":9,"type":"string"}`},
		{"an object about which nothing is said", three, `"requestBody":{"content":{"application/json":{"schema":{"type":"object"}}}}`, `{"type":"object"}`},
		{"a body of 2.0 with a description", two, `"parameters":[{"name":"b","in":"body","description":"pets","schema":{"type":"array","items":{"type":"string"}}}]`, `{"description":"pets","items":{"type":"string"},"type":"array"}`},
	} {
		tool := parsed(t, []byte(`{`+c.version+`,"paths":{"/a":{"post":{`+c.operation+`}}}}`), Options{}).Tools[0]
		sound(t, tool)
		if got, want := string(tool.InputSchema), closed+`"properties":{"body":`+c.want+
			`},"type":"object"}`; got != want {
			t.Errorf("%s: %s\nwant %s", c.name, got, want)
		}
	}
}
