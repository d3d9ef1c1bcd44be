package peers

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/keystile/keystile/registry"
)

// judgedSchema is an input schema, with arguments that it takes and does not take.
type judgedSchema struct {
	Name    string            `json:"name"`
	Schema  json.RawMessage   `json:"schema"`
	Valid   []json.RawMessage `json:"valid,omitempty"`
	Invalid []json.RawMessage `json:"invalid,omitempty"`
}

// ajv has the schemas compiled by a validator of JavaScript in its strict mode.
func ajv(t *testing.T, schemas []judgedSchema) {
	t.Helper()
	if _, err := exec.LookPath("node"); err != nil {
		t.Skip("node is not installed")
	}
	if _, err := os.Stat("node/node_modules/ajv"); err != nil {
		t.Skip("ajv is not installed: run npm ci in internal/peers/node")
	}
	text, err := json.Marshal(schemas)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "node", "ajv.mjs")
	cmd.Dir, cmd.Stdin = "node", bytes.NewReader(text)
	out, err := cmd.CombinedOutput()
	if err != nil || !bytes.Contains(out, []byte("ok: ")) {
		t.Errorf("ajv: %v\n%s", err, out)
	}
	t.Logf("%s", out)
}

// shown are the input schemas of the tools of a document, each once.
func shown(t *testing.T, name string, document []byte, seen map[string]bool) (out []judgedSchema) {
	t.Helper()
	for _, resolve := range []bool{false, true} {
		result, err := registry.Parse(t.Context(), document, registry.Options{Member: "m", ResolveRefs: resolve})
		if err != nil {
			return nil // that it is none of the documents that must be read is for the registry's tests
		}
		for _, tool := range result.Tools {
			if text := string(tool.InputSchema); !seen[text] {
				seen[text] = true
				out = append(out, judgedSchema{Name: name + " " + tool.Name, Schema: tool.InputSchema})
			}
		}
	}
	return out
}

func TestTheCorpusGivesSchemasThatAjvReadsStrictly(t *testing.T) {
	dir := os.Getenv("KEYSTILE_OPENAPI_CORPUS")
	if dir == "" {
		t.Skip("KEYSTILE_OPENAPI_CORPUS names no folder of documents")
	}
	files, err := filepath.Glob(filepath.Join(dir, "*", "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%d documents in %s: %v", len(files), dir, err)
	}
	seen := map[string]bool{}
	var schemas []judgedSchema
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		schemas = append(schemas, shown(t, filepath.Base(file), text, seen)...)
	}
	if len(schemas) < 1000 {
		t.Fatalf("%d schemas of %d documents, too few to say anything", len(schemas), len(files))
	}
	ajv(t, schemas)
}
