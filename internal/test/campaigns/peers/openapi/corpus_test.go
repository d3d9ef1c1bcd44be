package openapi

import (
	"encoding/csv"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// picked are documents of the corpus, by the first digits of their SHA-256, and what each is
// there for.
var picked = map[string]string{
	"0c432f360fee": "multiparts whose encoding says what a part is sent as, beside JSON of three media types",
	"9dff32682b01": "multiparts with JSON and files, where other multiparts are offered too; patterns and bounds",
	"6621a2620276": "OpenAPI 2.0: JSON bodies by reference, and files in forms",
	"9fd4cdaab0dd": "lists and objects in paths and queries, in the styles of 3.1",
	"73985bd25819": "JSON bodies made of allOf, with headers that are arguments",
	"0360fe39df8d": "URL-encoded forms, with fields of which no type is said",
	"455ee50f7c69": "long queries of lists and of objects with dots in their names; placeholders within segments",
}

func TestCorpusIsReadByOtherParsersAsItWasSent(t *testing.T) {
	dir := os.Getenv("KEYSTILE_OPENAPI_CORPUS")
	if dir == "" {
		t.Skip("KEYSTILE_OPENAPI_CORPUS names no folder of documents")
	}
	validator(t, corpus(t, dir), corpusFaults, 150)
}

// corpus reads the documents that are picked.
func corpus(t *testing.T, dir string) map[string][]byte {
	t.Helper()
	index, err := os.Open(filepath.Join(dir, "index.csv"))
	if err != nil {
		t.Fatal(err)
	}
	defer index.Close()
	rows := must(csv.NewReader(index).ReadAll())(t)
	column := func(name string) int { return slices.Index(rows[0], name) }
	out := map[string][]byte{}
	for _, row := range rows[1:] {
		for hash := range picked {
			if strings.HasPrefix(row[column("sha256")], hash) {
				out[hash] = must(os.ReadFile(filepath.Join(dir, row[column("bucket")], row[column("name")])))(t)
			}
		}
	}
	if len(out) != len(picked) {
		t.Fatalf("%d of %d documents are in %s", len(out), len(picked), dir)
	}
	return out
}
