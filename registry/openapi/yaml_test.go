package openapi

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/keystile/keystile/registry/lint"
)

// asYAML writes a JSON text as YAML the way people do: blocks, keys and texts without quotes
// where they need none, long texts in several lines.
func asYAML(t testing.TB, text []byte) []byte {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var b bytes.Buffer
	block(t, d, &b, 0, " ")
	return b.Bytes()
}

// block writes the next value of a text; before stands between an indicator and a scalar.
func block(t testing.TB, d *json.Decoder, b *bytes.Buffer, indent int, before string) {
	t.Helper()
	token, err := d.Token()
	if err != nil {
		t.Fatal(err)
	}
	pad := strings.Repeat(" ", indent)
	switch v := token.(type) {
	case json.Delim:
		if !d.More() {
			b.WriteString(before + map[json.Delim]string{'{': "{}", '[': "[]"}[v] + "\n")
		} else if indent > 0 {
			b.WriteString("\n")
		}
		for d.More() {
			if v == '[' {
				b.WriteString(pad + "-")
				block(t, d, b, indent+2, " ")
				continue
			}
			key, err := d.Token()
			if err != nil {
				t.Fatal(err)
			}
			b.WriteString(pad + scalar(t, key.(string), -1) + ":")
			block(t, d, b, indent+2, " ")
		}
		if _, err := d.Token(); err != nil {
			t.Fatal(err)
		}
	case nil:
		b.WriteString(before + []string{"null", "~", ""}[b.Len()%3] + "\n")
	case string:
		b.WriteString(before + scalar(t, v, indent) + "\n")
	default:
		fmt.Fprintf(b, "%s%v\n", before, v)
	}
}

var (
	unquoted = regexp.MustCompile(`^[A-Za-z/$][A-Za-z0-9/{}$_.+ -]*[A-Za-z0-9/}]$`)
	other    = regexp.MustCompile(`^(?i:null|true|false)$`) // than a text, without quotes
	lines    = regexp.MustCompile(`^[!-~][ -~]*(\n[!-~][ -~]*)+\n?$`)
)

// scalar writes a text: bare, as a block of lines at an indent, in single or double quotes.
func scalar(t testing.TB, s string, indent int) string {
	switch {
	case unquoted.MatchString(s) && !other.MatchString(s):
		return s
	case indent > 0 && lines.MatchString(s):
		chomp := "|-"
		if strings.HasSuffix(s, "\n") {
			chomp, s = "|", strings.TrimSuffix(s, "\n")
		}
		pad := "\n" + strings.Repeat(" ", indent)
		return chomp + pad + strings.ReplaceAll(s, "\n", pad)
	case regexp.MustCompile(`^[ -~]+$`).MatchString(s):
		return "'" + strings.ReplaceAll(s, "'", "''") + "'"
	}
	text := string(encode(t, s))
	for _, r := range "\u007f\u0085\u2028\u2029\ufeff\ufffe\uffff" {
		text = strings.ReplaceAll(text, string(r), fmt.Sprintf(`\u%04x`, r))
	}
	return text
}

// sameTools fails unless a document gives the same tools as others that mean the same.
func sameTools(t *testing.T, o Options, text []byte, others ...[]byte) {
	t.Helper()
	want, wantErr := Parse(t.Context(), text, o)
	for _, document := range others {
		got, err := Parse(t.Context(), document, o)
		if fmt.Sprint(err) != fmt.Sprint(wantErr) || !bytes.Equal(encode(t, got), encode(t, want)) {
			t.Errorf("%.300s\ngives %.300s, %v\nwant %.300s, %v", document, encode(t, got), err, encode(t, want), wantErr)
		}
	}
}

// marked is a JSON text that has to be read as YAML, without the escape that the parser does
// not know.
func marked(text []byte) []byte {
	const slash = `\/`
	return []byte("---\n" + strings.NewReplacer(`\\`, `\\`, slash, "/").Replace(string(text)))
}

func TestDocumentGivesTheSameToolsInYAML(t *testing.T) {
	resolved := Options{ResolveRefs: true}
	for _, document := range []string{small, whole2, whole3} {
		text := []byte(document)
		sameTools(t, resolved, text, asYAML(t, text), marked(text), encode(t, string(asYAML(t, text))))
	}
	files, err := filepath.Glob("testdata/openapi-golden/*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("no vectors: %v", err)
	}
	for _, file := range files {
		var v struct{ OpenAPI json.RawMessage }
		read(t, file, &v)
		if v.OpenAPI[0] == '{' {
			t.Run(filepath.Base(file),
				func(t *testing.T) { sameTools(t, resolved, v.OpenAPI, asYAML(t, v.OpenAPI), marked(v.OpenAPI)) })
		}
	}
}

func TestCorpusGivesTheSameToolsInYAML(t *testing.T) {
	for _, row := range table(t, corpusFile(t, "index.csv")) {
		t.Run(row["name"], func(t *testing.T) {
			text, err := os.ReadFile(corpusFile(t, filepath.Join(row["bucket"], row["name"])))
			if err != nil {
				t.Fatal(err)
			}
			sameTools(t, Options{Member: "m"}, text, asYAML(t, text))
		})
	}
}

// YAML as people write it by hand means the JSON that they expect.
func TestYAMLByHand(t *testing.T) {
	const hand = `# A service, as somebody writes it.
openapi: 3.0.3
info: {title: Library, version: 1.10}
x-page: &page
  - name: limit
    in: query
    schema: {type: integer, default: 012, maximum: 0x64}
  - $ref: '#/components/parameters/Since'
x-common: &common
  tags: [library]
  responses: &ok
    200:
      description: It is there.
paths:
  /books:
    get:
      <<: *common
      operationId: listBooks
      summary: >-
        The books,
        newest first.
      parameters: *page
    post:
      <<: [{operationId: addBook}, *common]
      requestBody:
        content:
          application/json:
            schema:
              type: object
              required: [title, on]
              properties:
                title: {type: string, pattern: '^\S.*$'}
                on: {type: boolean, default: no, description: yes}
                language: {type: string, enum: [en, no, 'null', ~, 2020-01-01, 12:30:45]}
                price: {type: number, minimum: .50, maximum: 1e400}
  /books/{id}:
    delete:
      operationId: removeBook
      responses: *ok
      description: |
        Gone,

        for good.
components:
  parameters:
    Since: {name: since, in: query, schema: {type: string, format: date, example: 2020-01-01}}
`
	const meant = `{"openapi":"3.0.3","info":{"title":"Library","version":1.10},"paths":{
		"/books":{
			"get":{"operationId":"listBooks","summary":"The books, newest first.","parameters":[
				{"name":"limit","in":"query","schema":{"type":"integer","default":12,"maximum":100}},{"$ref":"#/components/parameters/Since"}]},
			"post":{"operationId":"addBook","requestBody":{"content":{"application/json":{"schema":{"type":"object","required":["title","on"],"properties":{
				"title":{"type":"string","pattern":"^\\S.*$"},"on":{"type":"boolean","default":"no","description":"yes"},
				"language":{"type":"string","enum":["en","no","null",null,"2020-01-01","12:30:45"]},"price":{"type":"number","minimum":0.50,"maximum":1e400}}}}}}}},
		"/books/{id}":{"delete":{"operationId":"removeBook","description":"Gone,\n\nfor good.\n"}}},
		"components":{"parameters":{"Since":{"name":"since","in":"query","schema":{"type":"string","format":"date"}}}}}`
	got, want := parsed(t, []byte(hand), Options{ResolveRefs: true}), parsed(t, []byte(meant), Options{ResolveRefs: true})
	if text := string(encode(t, got.Tools)); text != string(encode(t, want.Tools)) || len(got.Tools) != 3 {
		t.Errorf("tools = %s\nwant %s", text, encode(t, want.Tools))
	}
	if !reflect.DeepEqual(got.Skipped, want.Skipped) {
		t.Errorf("skipped = %v, want %v", got.Skipped, want.Skipped)
	}
	if got, want := Advise(t.Context(), []byte(meant), lint.Check),
		Advise(t.Context(), asYAML(t, []byte(meant)), lint.Check); len(got) == 0 || !reflect.DeepEqual(got, want) {
		t.Errorf("Advise() = %q of YAML, and of the JSON that is meant %q", want, got)
	}
}

func TestYAMLOmissionsHaveThePointersOfJSON(t *testing.T) {
	result := parsed(t, []byte("openapi: 3.0.3\npaths:\n  /a~b/c:\n    get: 7\n    post:\n      parameters:\n"+
		"      - null\n  /x/../y: {get: {}}\n"), Options{})
	const want = `[{"pointer":"/paths/~1a~0b~1c/get","reason":"not an operation"},{"pointer":"/paths/~1x~1..~1y","reason":"a path must not have dot segments"},{"pointer":"/paths/~1a~0b~1c/post/parameters/0","reason":"not a parameter"}]`
	if got := string(encode(t, result.Skipped)); got != want {
		t.Errorf("skipped = %s, want %s", got, want)
	}
}

func TestYAMLThatIsRefusedSaysWhereAndWhatToDo(t *testing.T) {
	for _, c := range []struct {
		document string
		errcode  int
		want     string
	}{
		{"openapi: 3.0.3\npaths:\n  /a:\n   get: {}\n  post: {}\n /b: {}\n", ErrcodeNotOpenAPI,
			"line 6, column 2: did not find expected key while parsing a block mapping"},
		{"openapi: 3.0.3\nopenapi: 3.1.0\n", ErrcodeNotOpenAPI, `line 2, column 1: the key "openapi" stands in line 1 already`},
		{"openapi: 3.0.3\nx: !!binary aGk=\n", ErrcodeNotOpenAPI, "line 2, column 4: the tag !!binary"},
		{"openapi: 3.0.3\nx: &x [*x]\n", ErrcodeNotOpenAPI, "line 2, column 8: the alias *x leads to itself"},
		{"openapi: 3.0.3\n--- \nopenapi: 3.0.3\n", ErrcodeNotOpenAPI, "line 2, column 1: a second document begins"},
		{`{openapi: 3.0.3, paths: {/a: {get: {}}}}`, ErrcodeNotOpenAPI, "no member name in quotes at byte 1): mend it, or begin it with a line --- if it is YAML"},
		{"just text", ErrcodeNotOpenAPI, "the document is no object: send OpenAPI in JSON or YAML"},
		{"openapi: 3.0.3\nx: " + strings.Repeat("[", 65) + strings.Repeat("]", 65), ErrcodeTooMuch,
			"more than 64 levels deep (line 2, column 67"},
		{"openapi: 3.0.3\n" + laughs(12), ErrcodeTooMuch, "aliases"},
	} {
		_, err := Parse(t.Context(), []byte(c.document), Options{})
		if r := rejected(t, err, c.errcode); !strings.Contains(r.Msg, c.want) || !strings.Contains(r.Msg, ": ") {
			t.Errorf("Parse(%.60q) = %q, want %q in it", c.document, r.Msg, c.want)
		}
	}
}
