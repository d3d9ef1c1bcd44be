package openapi

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/keystile/keystile/internal/restcall"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/toolplan"
)

// sentBy returns the request line that a call of a tool makes, and "refused: ..." for one that is not sent.
func sentBy(t *testing.T, tool toolplan.Tool, to restcall.Upstream, arguments string) string {
	t.Helper()
	sent := ""
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		sent = r.Method + " " + r.RequestURI
	}))
	defer server.Close()
	plan, err := restcall.Compile(tool)
	if err != nil {
		t.Fatal(err)
	}
	caller, err := restcall.New(restcall.Config{Transport: server.Client().Transport})
	if err != nil {
		t.Fatal(err)
	}
	to.BaseURL = server.URL + to.BaseURL
	result, err := caller.Call(t.Context(), to, plan, []byte(arguments))
	if err != nil {
		t.Fatal(err)
	}
	if sent == "" {
		return "refused: " + result.Content[0].Text
	}
	return sent
}

// leftOut returns whether a piece of a document is listed, with a word of the reason.
func leftOut(r *Result, pointer, word string) bool {
	return slices.ContainsFunc(r.Skipped, func(s toolplan.Skip) bool {
		return s.Pointer == pointer &&
			strings.Contains(s.Reason, word)
	})
}

func TestMethodMakesAToolOrIsListed(t *testing.T) {
	r := parsed(t, []byte(`{"openapi":"3.2.0","paths":{"/a":{"get":{},"post":{},"put":{},"delete":{},"patch":{},
		"query":{},
		"head":{},"options":{},"trace":{},"GET":{},"link":{},"x-more":{},"summary":"s",
		"additionalOperations":{"COPY":{},"PURGE":{}}},
		"/b":{"$ref":"#/components/pathItems/b","post":{}}},"webhooks":{"w":{"post":{}}},
		"components":{"pathItems":{"b":{"get":{},"head":{}}}}}`), Options{})
	var got []string
	for _, tool := range r.Tools {
		got = append(got, tool.Method+" "+tool.Path)
	}
	if want := []string{"get /a", "post /a", "put /a", "delete /a", "patch /a", "query /a",
		"get /b"}; !slices.Equal(got, want) {
		t.Errorf("tools of %q, want %q", got, want)
	}
	for _, pointer := range []string{
		"/paths/~1a/head", "/paths/~1a/options", "/paths/~1a/trace", "/paths/~1a/GET", "/paths/~1a/link",
		"/paths/~1a/additionalOperations/COPY",
		"/paths/~1a/additionalOperations/PURGE", "/components/pathItems/b/head",
	} {
		if !leftOut(r, pointer, "none of the methods") {
			t.Errorf("%s is neither a tool nor listed: %v", pointer, r.Skipped)
		}
	}
	if !leftOut(r, "/paths/~1b/post", "$ref") || !leftOut(r, "/webhooks", "webhooks") || len(r.Skipped) != 10 {
		t.Errorf("left out are %v", r.Skipped)
	}
}

func TestOptionsOfManyPathsCrowdNothingOut(t *testing.T) {
	var paths strings.Builder
	for i := range 300 {
		fmt.Fprintf(&paths, `"/p%03d":{"get":{},"options":{}},`, i)
	}
	r := parsed(t, []byte(`{"openapi":"3.0.3","paths":{`+paths.String()+`"/z":{"get":7}}}`), Options{})
	if len(r.Skipped) != 12 || !leftOut(r, "/paths", "290 more operations") ||
		!leftOut(r, "/paths/~1z/get", "not an operation") {
		t.Errorf("left out are %v", r.Skipped)
	}
}

func TestQueryOperationReadsAndHasABody(t *testing.T) {
	r := parsed(t,
		[]byte(`{"openapi":"3.2.0","paths":{"/search":{"query":{"operationId":"search",`+
			`"requestBody":{"required":true,"content":{"application/json":{"schema":{"type":"object",`+
			`"properties":{"term":{"type":"string"}}}}}}}}}}`), Options{})
	tool := r.Tools[0]
	if tool.Method != "query" || !tool.ChangesNothing() || !strings.Contains(string(tool.InputSchema), `"term"`) {
		t.Fatalf("the tool is %+v", tool)
	}
	if got := sentBy(t, tool, restcall.Upstream{}, `{"term":"x"}`); got != "QUERY /search" {
		t.Errorf("sent is %s", got)
	}
}

func TestQuerystringIsTheWholeQuery(t *testing.T) {
	for name, c := range map[string]struct{ content, arguments, want string }{
		"fields of a form": {
			`"application/x-www-form-urlencoded":{"schema":{"type":"object","required":["q"],` +
				`"properties":{"q":{"type":"string"},"tags":{"type":"array","items":{"type":"string"}},` +
				`"at":{"type":"object"}}}}`,
			`{"q":"a&b","tags":["x","y"],"at":{"lat":1}}`, `GET /a?at=%7B%22lat%22%3A1%7D&q=a%26b&tags=x&tags=y`,
		},
		"a style": {
			`"application/x-www-form-urlencoded":{"schema":{"type":"object","properties":{"tags":{"type":"array",` +
				`"items":{"type":"string"}}}},"encoding":{"tags":{"style":"pipeDelimited"}}}`,
			`{"tags":["x","y"]}`, `GET /a?tags=x%7Cy`,
		},
		"free members": {`"application/x-www-form-urlencoded":{"schema":{"type":"object"}}`, `{"all":{"a":1,"b":"c"}}`,
			`GET /a?a=1&b=c`},
		"JSON": {`"application/json":{"schema":{"type":"object","properties":{"a":{"type":"integer"}}}}`,
			`{"all":{"a":1}}`, `GET /a?%7B%22a%22%3A1%7D`},
		"a text": {`"application/jsonpath":{"schema":{"type":"string"}}`, `{"all":"$.a[1:2]&x=1"}`,
			`GET /a?%24.a%5B1%3A2%5D%26x%3D1`},
	} {
		r := parsed(t,
			[]byte(`{"openapi":"3.2.0","paths":{"/a":{"get":{"parameters":[{"in":"querystring","name":"all",`+
				`"required":true,"content":{`+c.content+`}}]}}}}`), Options{})
		sound(t, r.Tools[0])
		if got := sentBy(t, r.Tools[0], restcall.Upstream{}, c.arguments); got != c.want || len(r.Skipped) > 0 {
			t.Errorf("%s: sent is %s, want %s; left out %v", name, got, c.want, r.Skipped)
		}
	}
}

func TestParameterThatTheUpstreamSetsIsNoArgument(t *testing.T) {
	const document = `{"openapi":"3.0.3","paths":{"/a?format=json":{"post":{"parameters":[
		{"name":"api_key","in":"query","required":true,"schema":{"type":"string"}},{"name":"v","in":"query",
		"required":true,"schema":{"type":"string"}},
		{"name":"format","in":"query","required":true,"schema":{"type":"string"}},{"name":"X-Key","in":"header",
		"required":true,"schema":{"type":"string"}},
		{"name":"session","in":"cookie","required":true,"schema":{"type":"string"}},{"name":"q","in":"query",
		"required":true,"schema":{"type":"string"}}],
		"requestBody":{"required":true,"content":{"application/x-www-form-urlencoded":{"schema":{"type":"object",
		"required":["api_key","name"],"properties":{"api_key":{"type":"string"},"name":{"type":"string"}}}}}}}}}}`
	with := func(in, name, secret string) restcall.Upstream {
		return restcall.Upstream{BaseURL: "https://api.example.com/base?v=1", AuthType: "api_key", AuthIn: in, AuthName: name,
			Secret: storage.NewSecret(secret)}
	}
	for name, c := range map[string]struct {
		of        restcall.Upstream
		gone      []string
		arguments string
		want      string
	}{
		"query": {with("query", "api_key", "s"), []string{"api_key", "body_api_key", "v", "format"},
			`{"q":"x","X-Key":"k","session":"s","name":"n"}`, "POST /base/a?v=1&format=json&q=x&api_key=s"},
		"header": {with("header", "x-key", "s"), []string{"X-Key", "v", "format"},
			`{"q":"x","api_key":"k","body_api_key":"k","session":"s","name":"n"}`,
			"POST /base/a?v=1&format=json&api_key=k&q=x"},
		"cookie": {with("header", "Cookie", "session=s"), []string{"session", "v", "format"},
			`{"q":"x","api_key":"k","body_api_key":"k","X-Key":"s","name":"n"}`,
			"POST /base/a?v=1&format=json&api_key=k&q=x"},
	} {
		r := parsed(t, []byte(document), Options{Fixed: c.of.Fixed().By})
		for _, gone := range c.gone {
			if strings.Contains(string(r.Tools[0].InputSchema), `"`+gone+`"`) {
				t.Errorf("%s: %s is an argument: %s", name, gone, r.Tools[0].InputSchema)
			}
		}
		to := c.of
		to.BaseURL = "/base?v=1"
		if got := sentBy(t, r.Tools[0], to, c.arguments); got != c.want {
			t.Errorf("%s: sent is %s, want %s", name, got, c.want)
		}
		if len(r.Skipped) < len(c.gone) || !strings.Contains(r.Skipped[0].Reason, "no argument") {
			t.Errorf("%s: left out are %v", name, r.Skipped)
		}
	}
}

func TestPathSuffixesOfANameAreForItsRouter(t *testing.T) {
	for path, c := range map[string]struct{ declared, value, public, want string }{
		"/p/{id:int}":              {"id", "7", "/p/:id", "/p/7"},
		"/p/{id:[0-9]{1,4}}":       {"id", "7", "/p/:id", "/p/7"},
		`/p/{id: \\d+}`:            {"id", "7", "/p/:id", "/p/7"},
		"/p/{file:path}":           {"file", "a/b", "/p/:file", "/p/a/b"},
		"/p/{file:.*}/raw":         {"file", "a/b", "/p/:file/raw", "/p/a/b/raw"},
		"/p/{file...}":             {"file", "a/b", "/p/:file", "/p/a/b"},
		"/p/{*file}":               {"file", "a/b", "/p/:file", "/p/a/b"},
		"/p/{+file}":               {"file", "a/b", "/p/:file", "/p/a/b"},
		"/v1/{name=projects/*}:do": {"name", "projects/x", "/v1/:name:do", "/v1/projects/x:do"},
		"/p/{id?}":                 {"id", "7", "/p/:id", "/p/7"},
		"/p/:id":                   {"id", "7", "/p/:id", "/p/7"},
		"/p/:id/sub:cancel":        {"id", "7", "/p/:id/sub:cancel", "/p/7/sub:cancel"},
		"/p/<id>":                  {"id", "7", "/p/:id", "/p/7"},
		"/p/<int:id>/x":            {"id", "7", "/p/:id/x", "/p/7/x"},
		"/q/{id:int}":              {"id:int", "7", "/q/:id", "/q/7"},
		"/q/{id}":                  {"id", "a/b", "/q/:id", "/q/a%2Fb"},
	} {
		r := parsed(t, []byte(`{"openapi":"3.0.3","paths":{"`+path+`":{"get":{"parameters":[{"name":"`+c.declared+
			`","in":"path","required":true,"description":"Which","schema":{"type":"string","maxLength":99}}]}}}}`),
			Options{})
		tool := r.Tools[0]
		argument, _ := placeholderName(c.declared)
		want := closed + `"properties":{"` + argument +
			`":{"description":"Which","maxLength":99,"type":"string"}},"required":["` + argument + `"],"type":"object"}`
		if string(tool.InputSchema) != want || len(r.Skipped) > 0 || tool.Path != c.public {
			t.Errorf("%s: %s of %s, left out %v, want %s of %s", path, tool.InputSchema, tool.Path, r.Skipped, want,
				c.public)
		}
		if got := sentBy(t, tool, restcall.Upstream{}, `{"`+argument+`":"`+c.value+`"}`); got != "GET "+c.want {
			t.Errorf("%s: sent is %s, want %s", path, got, c.want)
		}
	}
	r := parsed(t,
		[]byte(`{"openapi":"3.0.3","paths":{"/p/{id}":{"get":{"parameters":[{"name":"pid","in":"path",`+
			`"required":true,"schema":{"type":"integer"}}]}}}}`), Options{})
	if !leftOut(r, "/paths/~1p~1{id}/get/parameters/0", `no place for its parameter "pid"`) {
		t.Errorf("left out are %v", r.Skipped)
	}
}

func TestPlaceholderThatIsThereTwiceStaysAsItIs(t *testing.T) {
	r := parsed(t, []byte(`{"openapi":"3.0.3","paths":{"/p/{id:a}/{id:b}":{"get":{}}}}`), Options{})
	if got := sentBy(t, r.Tools[0], restcall.Upstream{}, `{"id":"1","id_b":"2"}`); got != "GET /p/1/2" {
		t.Errorf("sent is %s by %s", got, r.Tools[0].InputSchema)
	}
}

func TestArgumentSaysWhatTheAPICallsIt(t *testing.T) {
	r := parsed(t, []byte(`{"openapi":"3.0.3","paths":{"/a":{"post":{"parameters":[{"name":"filter[status]",
		"in":"query","description":"Which","schema":{"type":"string"}},{"name":"plain","in":"query","schema":{}}],
		"requestBody":{"content":{"application/json":{"schema":{
		"properties":{"@type":{"type":"string"}}}}}}}}}}`), Options{})
	want := closed +
		`"properties":{"filter_status":{"description":"\"filter[status]\" in the API. Which","type":"string"},` +
		`"plain":{},"type":{"description":"\"@type\" in the API.","type":"string"}},"type":"object"}`
	if got := string(r.Tools[0].InputSchema); got != want {
		t.Errorf("the schema is %s, want %s", got, want)
	}
}

func TestPathSaysWhatItsOperationsDoNot(t *testing.T) {
	r := parsed(t, []byte(`{"openapi":"3.1.0","paths":{"/a":{"summary":"All of them","get":{},
		"post":{"description":"Adds one"},"parameters":[{"$ref":"#/components/parameters/q",
		"description":"Here it is a word"}]}},
		"components":{"parameters":{"q":{"name":"q","in":"query","description":"What",
		"schema":{"type":"string"}}}}}`), Options{})
	if r.Tools[0].Description != "All of them" || r.Tools[1].Description != "Adds one" ||
		!strings.Contains(string(r.Tools[0].InputSchema), "Here it is a word") {
		t.Errorf("tools are %+v", r.Tools)
	}
}

func TestServersOfAPathAreAdvice(t *testing.T) {
	const document = `{"openapi":"3.0.3","info":{"title":"t","version":"1"},"servers":[{"url":"https://a.example"}],` +
		`"paths":{"/a":{"servers":[{"url":"https://b.example"}],"get":{"responses":{"200":{"description":"ok"}}}},` +
		`"/b":{"post":{"servers":[{"url":"https://c.example/v2"}],"responses":{"200":{"description":"ok"}}}},` +
		`"/c":{"get":{"responses":{"200":{"description":"ok"}}}}}}`
	r := parsed(t, []byte(document), Options{})
	for i, want := range []string{`the path "/a" has servers of its own (https://b.example)`,
		`the operation post "/b" has servers of its own (https://c.example/v2)`} {
		if len(r.Advice) != 2 || !strings.HasPrefix(r.Advice[i], want) {
			t.Errorf("advice is %q, want %q", r.Advice, want)
		}
	}
}
