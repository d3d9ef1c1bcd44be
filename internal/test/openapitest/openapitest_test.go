package openapitest

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/keystile/keystile/internal/reply"
)

const pets = `{"openapi":"3.0.3","paths":{
	"/pets":{"x-aliases":["/pets.php","/beasts/{rest...}"],
		"get":{"operationId":"list_pets","summary":"All","tags":["pets"],
			"parameters":[{"name":"limit","in":"query","schema":{"type":"integer"}},{"name":"kind","in":"query","required":true,"schema":{"type":"string"}}],
			"responses":{
				"200":{"description":"","headers":{"ETag":{"$ref":"#/components/headers/ETag"}},"content":{"application/json":{"schema":{"$ref":"#/components/schemas/Pet"}}}},
				"204":{"description":""},
				"default":{"$ref":"#/components/responses/Failed"}}},
		"post":{"operationId":"add_pet","summary":"One","tags":["pets"],
			"requestBody":{"required":true,"content":{
				"application/json":{"schema":{"$ref":"#/components/schemas/Pet"}},
				"application/x-www-form-urlencoded":{"schema":{"type":"object","required":["name"],"properties":{"name":{"type":"string"},"age":{"type":"integer"}}}}}},
			"responses":{"204":{"description":""}}}},
	"/pets/{id}":{"get":{"operationId":"get_pet","summary":"One","description":"HEAD is refused.","tags":["pets"],"responses":{"204":{"description":""}}}},
	"/any":{"x-any-method":true,"get":{"operationId":"do_any","summary":"Any","tags":["pets"],"responses":{"204":{"description":""}}}}},
	"components":{"schemas":{"Pet":{"type":"object","required":["name"],"properties":{
		"name":{"type":"string"},"age":{"type":"integer","nullable":true},"home":{"type":"object","additionalProperties":{"type":"string"}}}}}}}`

// note takes down what a test would fail with.
type note struct {
	testing.TB
	message []string
}

func (n *note) Helper()           {}
func (n *note) Error(args ...any) { n.message = append(n.message, fmt.Sprint(args...)) }
func (n *note) Errorf(text string, args ...any) {
	n.message = append(n.message, fmt.Sprintf(text, args...))
}

// given answers as a test says.
type given struct {
	code   int
	header http.Header
	body   string
}

func (g given) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	for name, values := range g.header {
		w.Header()[name] = values
	}
	w.WriteHeader(g.code)
	io.WriteString(w, g.body)
}

var (
	asJSON = http.Header{"Content-Type": {"application/json"}, "Etag": {`"x"`}}
	asHTML = http.Header{"Content-Type": {"text/html; charset=utf-8"}, "Etag": {`"x"`}}
	noETag = http.Header{"Content-Type": {"application/json"}}
	form   = "application/x-www-form-urlencoded"
)

func TestDifferenceIsNoticed(t *testing.T) {
	for _, c := range []struct {
		name, method, path, kind, body string
		answer                         given
		wrong                          string // "": nothing is
	}{
		{"as described", "GET", "/pets?kind=cat&limit=3", "", "", given{200, asJSON, `{"name":"Rex","age":null,"home":{"town":"Rome"}}`}, ""},
		{"by another name", "GET", "/pets.php?kind=cat", "", "", given{200, asJSON, `{"name":"Rex"}`}, ""},
		{"behind another name", "GET", "/beasts/a/b?kind=cat", "", "", given{200, asJSON, `{}`}, "name"},
		{"a member is missing", "GET", "/pets?kind=cat", "", "", given{200, asJSON, `{}`}, "name"},
		{"a member too many", "GET", "/pets?kind=cat", "", "", given{200, asJSON, `{"name":"Rex","colour":"red"}`}, "colour"},
		{"another type", "GET", "/pets?kind=cat", "", "", given{200, asJSON, `{"name":7}`}, "string"},
		{"inside of an open object", "GET", "/pets?kind=cat", "", "", given{200, asJSON, `{"name":"Rex","home":{"town":1}}`}, "string"},
		{"no JSON", "GET", "/pets?kind=cat", "", "", given{200, asJSON, `{`}, "EOF"},
		{"another status", "GET", "/pets?kind=cat", "", "", given{201, asJSON, `{"name":"Rex"}`}, "status"},
		{"another media type", "GET", "/pets?kind=cat", "", "", given{200, asHTML, `<p>`}, "text/html"},
		{"no ETag", "GET", "/pets?kind=cat", "", "", given{200, noETag, `{"name":"Rex"}`}, "ETag"},
		{"a body where there is none", "GET", "/pets?kind=cat", "", "", given{204, asJSON, `{}`}, "media type"},
		{"a parameter that is not described", "GET", "/pets?kind=cat&page=2", "", "", given{204, nil, ""}, "page"},
		{"a parameter of another type", "GET", "/pets?kind=cat&limit=many", "", "", given{204, nil, ""}, "limit"},
		{"without a parameter", "GET", "/pets", "", "", given{204, nil, ""}, "kind"},
		{"a refusal", "GET", "/pets?page=2", "", "", given{400, asJSON, `{"code":400,"errcode":400,"msg":"no"}`}, ""},
		{"a refusal of another shape", "GET", "/pets", "", "", given{400, asJSON, `{"message":"no"}`}, "message"},
		{"a refusal that is a success code", "GET", "/pets", "", "", given{400, asJSON, `{"code":1,"errcode":1,"msg":"no"}`}, "minimum"},
		{"HEAD", "HEAD", "/pets?kind=cat", "", "", given{200, asJSON, ""}, ""},
		{"a body", "POST", "/pets", "application/json", `{"name":"Rex"}`, given{204, nil, ""}, ""},
		{"a body that is not described", "POST", "/pets", "application/json", `{"colour":"red"}`, given{204, nil, ""}, "colour"},
		{"a body of another type", "POST", "/pets", "text/plain", `Rex`, given{204, nil, ""}, "text/plain"},
		{"no body", "POST", "/pets", "", "", given{204, nil, ""}, "required"},
		{"a form", "POST", "/pets", form, "name=Rex&age=3", given{204, nil, ""}, ""},
		{"a form's other field", "POST", "/pets", form, "name=Rex&colour=red", given{204, nil, ""}, "colour"},
		{"a form's field of another type", "POST", "/pets", form, "name=Rex&age=old", given{204, nil, ""}, "age"},
		{"a form without a field", "POST", "/pets", form, "age=3", given{204, nil, ""}, "name"},
		{"no default", "POST", "/pets", "", "", given{400, asJSON, `{"code":400,"errcode":400,"msg":"no"}`}, "status"},
		{"a method that is refused", "PUT", "/pets", "", "", given{405, asJSON, `{}`}, ""},
		{"a method that asks for a token first", "PUT", "/pets", "", "", given{401, asJSON, `{}`}, ""},
		{"a method that is not", "PUT", "/pets", "", "", given{204, nil, ""}, "method"},
		{"another path", "GET", "/cars", "", "", given{299, nil, ""}, ""},
		{"any method", "PURGE", "/any", "", "", given{204, nil, ""}, ""},
		{"any method, another status", "PURGE", "/any", "", "", given{200, nil, ""}, "status"},
	} {
		w, n := New(t, []byte(pets)), &note{TB: t}
		r := httptest.NewRequest(c.method, c.path, strings.NewReader(c.body))
		r.Header.Set("Content-Type", c.kind)
		out := httptest.NewRecorder()
		w.Watch(n, c.answer).ServeHTTP(out, r)
		message := strings.Join(n.message, "; ")
		if (c.wrong == "") != (message == "") || !strings.Contains(message, c.wrong) {
			t.Errorf("%s: %q is noticed, want %q", c.name, message, c.wrong)
		}
		if out.Code != c.answer.code || out.Body.String() != c.answer.body {
			t.Errorf("%s: the answer is changed", c.name)
		}
	}
}

func routes() []reply.Route {
	read := []string{"GET", "HEAD", "POST"}
	return []reply.Route{
		{Path: "/pets", Methods: read}, {Path: "/pets.php", Methods: read}, {Path: "/beasts/{rest...}", Methods: read},
		{Path: "/pets/{id}", Methods: []string{"GET"}}, {Path: "/any"},
	}
}

func TestRouteIsDescribedAndNoOther(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func([]reply.Route) []reply.Route
		wrong  string
	}{
		{"all there", func(r []reply.Route) []reply.Route { return r }, ""},
		{"a route more", func(r []reply.Route) []reply.Route {
			return append(r, reply.Route{Path: "/cars", Methods: []string{"GET"}})
		}, "GET /cars is served"},
		{"a method more", func(r []reply.Route) []reply.Route {
			r[0].Methods = []string{"GET", "HEAD", "POST", "PUT"}
			return r
		}, "PUT /pets is served"},
		{"a method less", func(r []reply.Route) []reply.Route { r[1].Methods = []string{"GET", "HEAD"}; return r },
			"POST /pets.php is described"},
		{"a route less", func(r []reply.Route) []reply.Route { return r[:4] }, "* /any is described"},
		{"no HEAD", func(r []reply.Route) []reply.Route { r[0].Methods = []string{"GET", "POST"}; return r },
			"GET /pets: its description"},
		{"a HEAD", func(r []reply.Route) []reply.Route { r[3].Methods = []string{"GET", "HEAD"}; return r },
			"GET /pets/{id}: its description"},
		{"any method no more", func(r []reply.Route) []reply.Route { r[4].Methods = []string{"GET", "HEAD"}; return r },
			"/any"},
	} {
		got := strings.Join(New(t, []byte(pets)).routes(c.change(routes())), "; ")
		if (c.wrong == "") != (got == "") || !strings.Contains(got, c.wrong) {
			t.Errorf("%s: %q, want %q", c.name, got, c.wrong)
		}
	}
	w := New(t, []byte(pets))
	for path, want := range map[string]bool{"/pets": true, "/beasts": true, "/": true, "/pet": false, "/cars": false} {
		if w.Describes(path) != want {
			t.Errorf("Describes(%s) = %t", path, !want)
		}
	}
}

func TestOperationsHaveGoodNames(t *testing.T) {
	for _, id := range []string{"getPets", "pets", "get-pets", "", "add_pet"} {
		text := strings.Replace(pets, `"list_pets"`, `"`+id+`"`, 1)
		if got := New(t, []byte(text)).names(); len(got) != 1 {
			t.Errorf("%q: %q", id, got)
		}
	}
}

func TestSawEverythingReportsWhatWasNeverSeen(t *testing.T) {
	w, n := New(t, []byte(pets)), &note{TB: t}
	for path, answer := range map[string]given{"/pets?kind=cat": {204, nil, ""}, "/any": {500, asJSON, ""}, "/pets/1": {200, asJSON, `{"errcode":2}`}} {
		w.Watch(&note{TB: t}, answer).ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", path, nil))
	}
	w.SawEverything(n)
	slices.Sort(n.message)
	if len(n.message) != 3 || !strings.Contains(n.message[0], "do_any") || !strings.Contains(n.message[1], "get_pet") ||
		!strings.Contains(n.message[2], "add_pet") {
		t.Errorf("told: %q", n.message)
	}
}
