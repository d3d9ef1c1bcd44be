package registry_test

import (
	"fmt"
	"strings"
	"testing"
)

// A registration may be YAML as a whole: the document stands in it as it is, or as a text.
func TestRegistrationIsYAMLIfItsContentTypeSaysSo(t *testing.T) {
	const document = `
  openapi: 3.0.3
  info: {title: Shop, version: 1.0.0}
  paths:
    /orders/{id}:
      get:
        operationId: getOrder
        parameters:
        - {name: lang, in: query, schema: {type: string, default: no}}
        responses: {200: {description: one order}}
`
	h := newFixture(t)
	mina := h.developer("mina")
	send := func(kind, body string) response {
		return h.request("POST", all+"/preview", mina, strings.NewReader(body), "Content-Type", kind)
	}
	want := send("application/json", `{"member":"shop","openapi":{"openapi":"3.0.3","info":{"title":"Shop","version":"1.0.0"},"paths":{"/orders/{id}":{"get":{"operationId":"getOrder","parameters":[{"name":"lang","in":"query","schema":{"type":"string","default":"no"}}]}}}}}`)
	if want.status != 200 || !strings.Contains(want.text, `"tool_count":1`) {
		t.Fatalf("in JSON = %d %s", want.status, want.text)
	}
	for _, kind := range []string{"application/yaml", "application/yaml; charset=utf-8", "Text/YAML", "application/x-yaml",
		"text/x-yaml", "text/vnd.yaml"} {
		for _, body := range []string{"member: shop\nopenapi:" + document, "# the shop\nmember: shop\nopenapi: |" + document,
			"---\nopenapi: &d" + document + "member: shop\nlabel: ~\n"} {
			a := send(kind, body)
			if a.status != 200 || a.text != want.text {
				t.Errorf("%s: %s = %d %s, want %s", kind, body, a.status, a.text, want.text)
			}
		}
		if a := send(kind, `{"member":"shop","openapi":{"openapi":"3.0.3","info":{"title":"Shop","version":"1.0.0"},"paths":{"\/orders\/{id}":{"get":{"operationId":"getOrder","parameters":[{"name":"lang","in":"query","schema":{"type":"string","default":"no"}}]}}}}}`); a.status != 200 || a.text != want.text {
			t.Errorf("%s: JSON in it = %d %s, want %s", kind, a.status, a.text, want.text)
		}
	}
	for _, c := range []struct{ name, kind, body, part string }{
		{"a list", "application/yaml", "- member: shop\n", "the body is not one JSON object"},
		{"nothing", "application/yaml", "", "there is nothing but blanks"},
		{"wrong YAML", "application/yaml", "member: shop\nopenapi: [\n", "as YAML the body is wrong (line "},
		{"a field twice", "application/yaml", "member: shop\nmember: other\n", "line 2"},
		{"two documents", "application/yaml", "member: shop\n---\nmember: other\n", "as YAML the body is wrong"},
		{"a number for a text", "application/yaml", "member: 12\n", "member must be a string"},
		{"aliases of aliases", "application/yaml", bomb(), "too large"},
		{"YAML as JSON", "application/json", "member: shop\n", "the body is not one JSON object"},
		{"another type", "text/plain", "member: shop\n", "send Content-Type: application/json"},
	} {
		if a := send(c.kind, c.body); a.status != 400 || !strings.Contains(a.text, c.part) {
			t.Errorf("%s = %d %s, want 400 and %q", c.name, a.status, a.text, c.part)
		}
	}
}

// bomb is a registration of 2 KB that stands for 10^12 texts.
func bomb() string {
	var b strings.Builder
	b.WriteString("a0: &a0 [lol,lol,lol,lol,lol,lol,lol,lol,lol,lol]\n")
	for i := 1; i < 12; i++ {
		fmt.Fprintf(&b, "a%d: &a%d [", i, i)
		for j := range 10 {
			if j > 0 {
				b.WriteString(",")
			}
			fmt.Fprintf(&b, "*a%d", i-1)
		}
		b.WriteString("]\n")
	}
	return b.String()
}
