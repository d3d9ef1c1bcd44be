package openapi

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/keystile/keystile/registry/lint"
)

// Small documents that ask for much. None is judged by the clock: what counts is the steps
// the reader takes and the bytes it allocates.
func TestSmallDocumentsCannotCauseMuchWork(t *testing.T) {
	if testing.Short() {
		t.Skip("reads many hostile documents")
	}
	for _, c := range []struct {
		name, document string
		tools          int // 0: refused as too much; -1: no tool is left
		steps          int
	}{
		{"a chain of 20,000 references", get(`"c":{`+each(20_000, `"a%[1]d":{"$ref":"#/c/a%[2]d"},`)+`"x":0}`, body0), 1, 100},
		{"a chain of 1,000 parameters", get(`"c":{`+each(1000, `"a%[1]d":{"$ref":"#/c/a%[2]d"},`)+`"x":0}`, `"parameters":[{"$ref":"#/c/a0"}]`), 1, 100},
		{"allOf of allOf", fanOut("allOf"), 1, 2000},
		{"oneOf of oneOf", fanOut("oneOf"), 1, 2000},
		{"anyOf of anyOf", fanOut("anyOf"), 1, 2000},
		{"an allOf that contains itself", get(`"c":{"a0":{"allOf":[{"$ref":"#/c/a0"},{"$ref":"#/c/a0"},{"properties":{"x":{}}}]}}`, body0), 1, 100},
		{"a chain of 5,000 allOf", get(`"c":{`+each(5000, `"a%[1]d":{"allOf":[{"$ref":"#/c/a%[2]d"}]},`)+`"x":0}`, body0), 1, 300},
		{"three references in each of twelve", get(`"c":{`+each(12, `"a%[1]d":{"properties":{"x":{"$ref":"#/c/a%[2]d"},"y":{"$ref":"#/c/a%[2]d"},"z":{"$ref":"#/c/a%[2]d"}}},`)+`"a12":{}}`, body0), 1, 2000},
		{"100,000 members of allOf", get(`"c":{"a0":{"allOf":[`+strings.Repeat(`{},`, 100_000)+`{}]}}`, body0), -1, 50_000},
		{"100,000 branches of a choice", get(`"c":{"a0":{"oneOf":[`+strings.Repeat(`{"type":"null"},`, 100_000)+`{}]}}`, body0), -1, 50_000},
		{"100,000 required names", get(`"c":{"a0":{"properties":{"x":{}},"required":[`+strings.Repeat(`0,`, 100_000)+`"x"]}}`, body0), -1, 50_000},
		{"100,000 parameters", get(`"c":0`, `"parameters":[`+strings.Repeat(`null,`, 100_000)+`null]`), -1, 50_000},
		{"20,000 properties", get(`"c":{"a0":{"properties":{`+each(20_000, `"p%[1]d":{},`)+`"x":{}}}}`, body0), -1, 50_000},
		{"an enum of 100,000", get(`"c":{"a0":{"properties":{"x":{"enum":[`+strings.Repeat(`1,`, 100_000)+`1]}}}}`, body0), -1, 50_000},
		{"30,000 nested branches", get(`"c":{"a0":{"properties":{"x":{"anyOf":[`+strings.Repeat(`{"type":"string"},`, 30_000)+`{}]}}}}`, body0), -1, 50_000},
		{"much work, 2,000 times", onPaths(2000, `{"post":{"parameters":[`+strings.Repeat(`null,`, 19_000)+`null]}}`), 0, 2 * fewSteps},
		{"a large default, 2,000 times", onPaths(2000, `{"post":{"parameters":[{"name":"a","in":"query","schema":{"default":"`+strings.Repeat("x", 1<<20)+`"}}]}}`), -1, 50_000},
		{"a large description, 2,000 times", onPaths(2000, `{"post":{"description":"`+strings.Repeat(`\u0001`, 1<<18)+`","summary":"`+strings.Repeat("x", 1<<20)+`"}}`), 2000, 50_000},
		{"a long operationId, 2,000 times", onPaths(2000, `{"post":{"operationId":"`+strings.Repeat("@x", 1<<19)+`"}}`), 2000, 50_000},
		{"a long reference, 2,000 times", onPaths(2000, `{"post":{"requestBody":{"$ref":"#`+strings.Repeat("/i", 1<<18)+`"}}}`), 2000, 50_000},
		{"patterns that are dear to compile", onPaths(200, `{"post":{"parameters":[`+each(100, `{"name":"p%[1]d","in":"query","schema":{"pattern":"(a{1,1000}){1}%[2]d"}},`)+`0]}}`), 200, 100_000},
	} {
		for _, resolve := range []bool{false, true} {
			if resolve && !strings.Contains(c.document, `"#/c/`) {
				continue // nothing is there to resolve
			}
			t.Run(fmt.Sprintf("%s, resolved: %t", c.name, resolve), func(t *testing.T) {
				steps, bytes := cost(t, c.document, resolve, c.tools)
				if most := 2 * c.steps; steps > most {
					t.Errorf("%d steps, want at most %d", steps, most)
				}
				if most := 128<<20 + 20*len(c.document) + 700*steps; bytes > most {
					t.Errorf("%d bytes allocated, want at most %d", bytes, most)
				}
			})
		}
	}
}

// body0 is the body of an operation whose schema is a reference to /c/a0.
const body0 = `"requestBody":{"required":true,"content":{"application/json":{"schema":{"$ref":"#/c/a0"}}}}`

// get is a document with one operation.
func get(more, operation string) string {
	return `{"openapi":"3.0.3",` + more + `,"paths":{"/a":{"post":{` + operation + `}}}}`
}

// onPaths is a document with one path item on n paths.
func onPaths(n int, item string) string {
	return `{"openapi":"3.0.3","i":` + item + `,"paths":{` + each(n, `"/%[1]d":{"$ref":"#/i"},`) + `"x-":0}}`
}

// fanOut combines 10^8 schemas in 2 KB.
func fanOut(key string) string {
	ten := strings.TrimSuffix(strings.Repeat(`{"$ref":"#/c/a%[2]d"},`, 10), ",")
	return get(`"c":{`+each(8, `"a%[1]d":{"`+key+`":[`+ten+`]},`)+`"a8":{"properties":{"x":{"type":"string"}}}}`, body0)
}

// each writes a format n times, with i and i+1.
func each(n int, format string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, format, i, i+1)
	}
	return b.String()
}

// fewSteps is a budget that is soon spent: what matters is that it ends the reading, and
// that there is one.
const fewSteps = maxSteps / 10

// cost parses a document that yields so many tools, and returns what that took.
func cost(t *testing.T, document string, resolve bool, tools int) (steps, bytes int) {
	t.Helper()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	o, err := Options{ResolveRefs: resolve}.check()
	if err != nil {
		t.Fatal(err)
	}
	d, err := open(t.Context(), []byte(document), o)
	if err != nil {
		t.Fatal(err)
	}
	if d.budget != maxSteps {
		t.Errorf("a document may take %d steps, want %d", d.budget, maxSteps)
	}
	d.budget = fewSteps
	result, err := d.parse(t.Context())
	runtime.ReadMemStats(&after)
	switch {
	case tools == 0:
		rejected(t, err, ErrcodeTooMuch)
	case tools == -1:
		if r := rejected(t, err, ErrcodeEmpty); len(r.Skipped) == 0 {
			t.Error("nobody is told what was left out")
		}
	case err != nil || len(result.Tools) != tools:
		t.Errorf("Parse() = %v, want %d tools", err, tools)
	default:
		for _, tool := range result.Tools[:min(len(result.Tools), 3)] {
			sound(t, tool)
		}
	}
	return d.steps, int(after.TotalAlloc - before.TotalAlloc)
}

func TestNamesOfManyUnnamedOperationsAreFoundInOnePass(t *testing.T) {
	var taken strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&taken, `"/x%d":{"get":{"operationId":"get_a_%d"}},`, i, i+2)
	}
	for i := range 999 {
		fmt.Fprintf(&taken, `"/a%s":{"get":{}},`, strings.Repeat("/", i+1))
	}
	d, err := open(t.Context(), []byte(`{"openapi":"3.0.3","paths":{`+taken.String()+`"/a":{"get":{}}}}`), Options{MaxDocument: 1 << 24, MaxDepth: 64, MaxOperations: 2000, MaxHops: 16})
	if err != nil {
		t.Fatal(err)
	}
	ops, err := d.operations(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	n := newNamer("")
	names := n.names(ops, "operationId")
	if n.tries > 4*len(names) || len(names) != 2000 {
		t.Errorf("%d names took %d tries, want a few each", len(names), n.tries)
	}
}

func TestReferencesAreNeverFetched(t *testing.T) {
	var asked atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		fmt.Fprint(w, `{"get":{},"type":"string","name":"x","in":"query"}`)
	}))
	defer server.Close()
	for _, ref := range []string{server.URL + "/x.json", server.URL + "/x.json#/a",
		strings.TrimPrefix(server.URL, "http:") + "/x.json", "file:///etc/passwd", "x.json#/a"} {
		for _, version := range []string{two, three} {
			document := strings.ReplaceAll(`{`+version+`,"servers":[{"url":"REF"}],"host":"`+strings.TrimPrefix(server.URL, "http://")+`","externalDocs":{"url":"REF"},"paths":{
				"/a":{"$ref":"REF"},
				"/b":{"post":{"parameters":[{"$ref":"REF"},{"name":"q","in":"query","schema":{"$ref":"REF"}},{"name":"b","in":"body","schema":{"$ref":"REF"}}],
				"requestBody":{"$ref":"REF"},"responses":{"200":{"$ref":"REF"}}}},
				"/c":{"post":{"requestBody":{"content":{"application/json":{"schema":{"allOf":[{"$ref":"REF"},{"properties":{"p":{"$ref":"REF"}}}]}}}}}}}}`, "REF", ref)
			for _, resolve := range []bool{false, true} {
				for _, tool := range parsed(t, []byte(document), Options{ResolveRefs: resolve}).Tools {
					sound(t, tool)
				}
			}
			if advice := Advise(t.Context(), []byte(document), lint.Check); len(advice) == 0 {
				t.Errorf("Advise(a document that refers to %s) = no advice", ref)
			}
		}
	}
	if n := asked.Load(); n != 0 {
		t.Errorf("%d requests were made, want none", n)
	}
}
