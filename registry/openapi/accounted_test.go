package openapi

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func TestCorpusLosesNothing(t *testing.T) {
	rows := table(t, corpusFile(t, "index.csv"))
	pieces := 0
	for _, row := range rows {
		text, err := os.ReadFile(corpusFile(t, filepath.Join(row["bucket"], row["name"])))
		if err != nil {
			t.Fatal(err)
		}
		pieces += losesNothing(t, row["name"], text)
	}
	if pieces < 15_000 {
		t.Errorf("%d pieces were looked for: the corpus is not read", pieces)
	}
	t.Logf("%d documents, %d pieces, none lost", len(rows), pieces)
}

// losesNothing fails if a piece of a document is neither in a tool nor listed, and returns how many there were.
func losesNothing(t *testing.T, name string, document []byte) int {
	t.Helper()
	r, err := Parse(t.Context(), document, Options{Member: "m"})
	if refused := (*Rejection)(nil); errors.As(err, &refused) {
		return 0 // as a whole, and it says why
	}
	if err != nil {
		t.Fatal(err)
	}
	lost, pieces := lostOf(t, document, r)
	for i, what := range lost {
		if i == 5 {
			t.Errorf("%s: and %d more", name, len(lost)-5)
			break
		}
		t.Errorf("%s: %s", name, what)
	}
	return pieces
}

// generated returns how many documents are made: more in the long part of CI, which has the corpus.
func generated() int {
	if os.Getenv(corpus) != "" {
		return 10_000
	}
	return 400
}

func TestCorpusThatIsGeneratedLosesNothing(t *testing.T) { generatedLoseNothing(t, generated()) }

func TestGeneratedDocumentsLoseNothing(t *testing.T) { generatedLoseNothing(t, 400) }

func generatedLoseNothing(t *testing.T, n int) {
	pieces, refused := 0, 0
	for i := range n {
		g := &generator{Rand: rand.New(rand.NewPCG(uint64(i), 38)),
			version: []string{"2.0", "3.0.3", "3.1.0", "3.2.0"}[i%4]}
		document := encode(t, g.document())
		if r, err := Parse(t.Context(), document, Options{Member: "m", ResolveRefs: i%8 < 4}); err == nil {
			for _, tool := range r.Tools {
				sound(t, tool)
			}
		}
		found := losesNothing(t, fmt.Sprintf("document %d", i), document)
		if pieces += found; found == 0 {
			refused++
		}
		if t.Failed() {
			t.Fatalf("of the document %s", document)
		}
	}
	if refused > n/2 || pieces < 5*n {
		t.Errorf("%d of %d documents are refused, and the others have %d pieces: little is tried", refused, n, pieces)
	}
	t.Logf("%d documents, %d refused, %d pieces, none lost", n, refused, pieces)
}

func TestAccountNoticesWhatIsLost(t *testing.T) {
	document := []byte(`{"openapi":"3.2.0","paths":{"/a/{id}":{"parameters":[{"name":"id","in":"path","required":true,
		"schema":{}}],"post":{"parameters":[{"name":"q","in":"query","schema":{}},{"name":"Host","in":"header",
		"schema":{}},
		{"name":"c","in":"cookie","schema":{}},{"name":"gone","in":"path","schema":{}},7],
		"requestBody":{"content":{"application/xml":{"schema":{}},"application/json":{"schema":{"type":"object",
		"properties":{"a":{},"b":{"readOnly":true}}}}}}},
		"head":{},"additionalOperations":{"COPY":{}}},"/b":{"get":7},"/c":7}}`)
	r, err := Parse(t.Context(), document, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if lost, _ := lostOf(t, document, r); len(lost) > 0 {
		t.Fatalf("lost are %q", lost)
	}
	for i := range r.Skipped {
		less := *r
		less.Skipped = slices.Delete(slices.Clone(r.Skipped), i, i+1)
		if lost, _ := lostOf(t, document, &less); len(lost) != 1 {
			t.Errorf("without %v in the list, lost are %q", r.Skipped[i], lost)
		}
	}
	call := r.Tools[0].Call
	for i := range call.Params {
		all := call.Params
		call.Params = slices.Delete(slices.Clone(all), i, i+1)
		if lost, _ := lostOf(t, document, r); len(lost) != 1 {
			t.Errorf("without the argument %v, lost are %q", all[i], lost)
		}
		call.Params = all
	}
	call.Body.Fields = nil
	if lost, _ := lostOf(t, document, r); len(lost) != 1 {
		t.Errorf("without the fields, lost are %q", lost)
	}
	r.Tools = nil
	if lost, _ := lostOf(t, document, r); len(lost) != 1 {
		t.Errorf("without the tool, lost are %q", lost)
	}
}
