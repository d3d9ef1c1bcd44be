package openapi

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/keystile/keystile/internal/restcall"
)

// Each tool that is made of any document can be called (sound compiles it): by the
// corpus in TestCorpusYieldsItsTools, here by documents made at random of what is odd.
func TestToolOfADocumentCanBeCalled(t *testing.T) {
	made, refused := 0, 0
	for seed := range uint64(400) {
		document := strange(rand.New(rand.NewPCG(seed, 7)))
		result, err := Parse(t.Context(), document, Options{Member: "m", ResolveRefs: seed%2 == 0})
		if no := (*Rejection)(nil); errors.As(err, &no) {
			refused++
			continue
		} else if err != nil {
			t.Fatal(err)
		}
		for _, tool := range result.Tools {
			made++
			sound(t, tool)
		}
		if t.Failed() {
			t.Fatalf("by the document %s", document)
		}
	}
	if made < 800 || refused > 100 {
		t.Errorf("%d tools of documents, %d of which were refused: too few to say anything", made, refused)
	}
}

var (
	oddNames = []string{"a", "b", "a b", "x[]", "x[y]", "é", "a\nb", "\u0085", "Host", "user-agent", "Accept-Encoding",
		"Set-Cookie", "via", "X-Forwarded-For", "X-Ok", "additionalProperties", "body", "a/b", "q?", "#h", "..", "{a}",
		strings.Repeat("n", 70), "f_X-Sum", "f"}
	oddPaths = []string{"/a", "a", "/{a}", "/{a}/{b}", "/{a/b}", "/x?q={a}", "/x?%zz", "/x#{a}", "/x{?a,b}", "/{a}:run",
		"/a/../b", "/%2e%2e/{a}", "/..;x", "/a b", "", "http://h/x", "/{a}.json", "/{+a}", "/x?y=1", "/.{a}", "/{}", "/a//b",
		"/ü/{é}"}
	oddKinds = []string{typeJSON, typeForm, typeMultipart, "application/xml", "image/*", "*/*",
		"text/plain; charset=utf-8", "application/vnd.x+json", "nonsense", "a/b;;"}
	oddTypes = []string{"text/plain", "application/json, text/csv", "image/*", "nonsense", "a/b;;", "text/html\r\nX: y",
		"", "image/png,,", strings.Repeat("a/b,", 40) + "a/b"}
	schemas = []string{`{}`, `true`, `false`, `7`, `{"type":"string"}`, `{"type":"string","format":"binary"}`, `{"type":"array","items":{"type":"string","format":"binary"}}`, `{"type":"object"}`, `{"type":"array"}`,
		`{"type":["string","null"],"pattern":"\\-[\\w-.]"}`, `{"$ref":"#/components/schemas/S"}`, `{"enum":["only"]}`, `{"default":"x\ny"}`, `{"const":3}`, `{"contentMediaType":"image/png"}`, `{"contentMediaType":"x"}`, `{"oneOf":[{"type":"object","properties":{"a":{}}},{"type":"string"}]}`}
)

// strange makes a document.
func strange(r *rand.Rand) []byte {
	pick := func(list []string) string { return list[r.IntN(len(list))] }
	quoted := func(list []string) string { return fmt.Sprintf("%q", pick(list)) }
	flag := func(name string) string {
		return pick([]string{"", `"` + name + `":true,`, `"` + name + `":false,`, `"` + name + `":7,`})
	}
	schema := func() string { return `"schema":` + pick(schemas) }
	style := func() string {
		return pick([]string{"", `"style":` + quoted([]string{"form", "deepObject", "spaceDelimited", "pipeDelimited", "simple", "label", "matrix", "x"}) + `,`}) + flag("explode") + flag("allowReserved")
	}
	parameter := func() string {
		place := quoted([]string{"path", "query", "header", "cookie", "formData", "body", "x"})
		return `{"name":` + quoted(oddNames) + `,"in":` + place + `,` + flag("required") + style() +
			pick([]string{"", `"type":"array","collectionFormat":` + quoted([]string{"csv", "ssv", "tsv", "pipes", "multi", "x"}) + `,`, `"type":"file",`}) + schema() + `}`
	}
	several := func(n int, one func() string) string {
		var out []string
		for range r.IntN(n) {
			out = append(out, one())
		}
		return strings.Join(out, ",")
	}
	property := func() string { return quoted(oddNames) + `:` + pick(schemas) }
	encoding := func() string {
		return quoted(oddNames) + `:{` + style() + pick([]string{"", `"contentType":` + quoted(oddTypes) + `,`}) +
			`"headers":{` + several(3, func() string {
			return quoted([]string{"X-Sum", "Content-Type", "content-disposition", "a b", "X-É"}) + `:{` + flag("required") + schema() + `}`
		}) + `}}`
	}
	body := func() string {
		return quoted(oddKinds) + `:{"schema":{"type":"object",` + pick([]string{"", `"additionalProperties":true,`, `"additionalProperties":` + pick(schemas) + `,`}) +
			`"required":["a","f"],"properties":{` + several(6, property) + `}},"encoding":{` + several(4, encoding) + `}}`
	}
	operation := func() string {
		return `"` + pick(methods) + `":{"parameters":[` + several(5, parameter) + `]` + pick([]string{"", `,"requestBody":{` + flag("required") + `"content":{` + several(3, body) + `}}`}) + `}`
	}
	path := func() string { return quoted(oddPaths) + `:{` + operation() + `,` + operation() + `}` }
	version := pick([]string{`"openapi":"3.0.3"`, `"openapi":"3.1.0"`, `"swagger":"2.0","consumes":["multipart/form-data"]`})
	return []byte(`{` + version + `,"components":{"schemas":{"S":{"type":"string","format":"binary"}}},"paths":{"/ok":{` + operation() + `},` + strings.TrimPrefix(strings.Join([]string{several(5, path), `"x-":{}}}`}, `,`), `,`))
}

// The registrar leaves those headers to the service that the caller would refuse.
func TestHeadersOfTheGatewayAreListedOnce(t *testing.T) {
	ours := []string{"Accept", "accept-encoding", "Authorization", "CDN-Loop", "Connection", "Content-Encoding",
		"content-length", "Content-Type", "Cookie", "Expect", "Forwarded", "Host",
		"Keep-Alive", "Set-Cookie", "TE", "Trailer", "Transfer-Encoding", "Upgrade", "User-Agent", "Via", "X-Real-IP",
		"Mcp-Name", "proxy-x", "X-Forwarded-Host", "X_Forwarded_Host", "X-Keystile-User",
		"X-HTTP-Method-Override", "X-Rewrite-Url"}
	var parameters []string
	for _, name := range append(slices.Clone(ours), "X-Mine") {
		parameters = append(parameters, `{"name":"`+name+`","in":"header","required":true,"schema":{"type":"string"}}`)
	}
	tool := parsed(t, []byte(`{`+three+`,"paths":{"/":{"get":{"parameters":[`+strings.Join(parameters, ",")+`]}}}}`), Options{}).Tools[0]
	if len(tool.Call.Params) != 1 || tool.Call.Params[0].Name != "X-Mine" {
		t.Errorf("params = %+v, want X-Mine alone", tool.Call.Params)
	}
	for _, name := range ours {
		if !restcall.Reserved(name) {
			t.Errorf("Reserved(%s) = false, want true", name)
		}
	}
	sound(t, tool)
}
