package peers

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/keystile/keystile/registry/openapi"
)

// checkedSchema is an input schema, with arguments that it takes and does not take.
type checkedSchema struct {
	Name    string            `json:"name"`
	Schema  json.RawMessage   `json:"schema"`
	Valid   []json.RawMessage `json:"valid,omitempty"`
	Invalid []json.RawMessage `json:"invalid,omitempty"`
}

// ajv has the schemas compiled by a validator of JavaScript in its strict mode.
func ajv(t *testing.T, schemas []checkedSchema) {
	t.Helper()
	if _, err := exec.LookPath("node"); err != nil {
		t.Skip("node is not installed")
	}
	if _, err := os.Stat("node/node_modules/ajv"); err != nil {
		t.Skip("ajv is not installed: run npm ci in internal/test/campaigns/peers/node")
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
func shown(t *testing.T, name string, document []byte, seen map[string]bool) (out []checkedSchema) {
	t.Helper()
	for _, resolve := range []bool{false, true} {
		result, err := openapi.Parse(t.Context(), document, openapi.Options{Member: "m", ResolveRefs: resolve})
		if err != nil {
			return nil // that it is none of the documents that must be read is for the registry's tests
		}
		for _, tool := range result.Tools {
			if text := string(tool.InputSchema); !seen[text] {
				seen[text] = true
				out = append(out, checkedSchema{Name: name + " " + tool.Name, Schema: tool.InputSchema})
			}
		}
	}
	return out
}

func TestCorpusGivesSchemasThatAjvReadsStrictly(t *testing.T) {
	dir := os.Getenv("KEYSTILE_OPENAPI_CORPUS")
	if dir == "" {
		t.Skip("KEYSTILE_OPENAPI_CORPUS names no folder of documents")
	}
	files, err := filepath.Glob(filepath.Join(dir, "*", "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%d documents in %s: %v", len(files), dir, err)
	}
	seen := map[string]bool{}
	var schemas []checkedSchema
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

// The documents of the encoding vectors are there without a corpus.
func TestDocumentsOfFormsGiveSchemasThatAjvReadsStrictly(t *testing.T) {
	text, err := os.ReadFile("../../../restcall/testdata/encoding.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Vectors []struct {
			ID, Version, Method, Path string
			Operation                 json.RawMessage
		}
	}
	if err := json.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	var schemas []checkedSchema
	for _, v := range file.Vectors {
		key := "openapi"
		if v.Version == "2.0" {
			key = "swagger"
		}
		document, err := json.Marshal(map[string]any{key: v.Version,
			"paths": map[string]any{v.Path: map[string]any{v.Method: v.Operation}}})
		if err != nil {
			t.Fatal(err)
		}
		schemas = append(schemas, shown(t, v.ID, document, seen)...)
	}
	if len(schemas) < 30 {
		t.Fatalf("%d schemas of %d vectors, too few to say anything", len(schemas), len(file.Vectors))
	}
	ajv(t, schemas)
}

// A validator still enforces what a hand-filled or imported schema says.
func TestSchemasOfListsKeepWhatAjvEnforces(t *testing.T) {
	const node = `{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object","additionalProperties":false,"required":["n"],
		"properties":{"n":{"$ref":"#/$defs/Node"},"o":{"type":"object","properties":{"a":{"type":"string"}},"additionalProperties":{"type":"integer"}},"p":{"type":"string","pattern":"^[\\w-.]\\-\\_$"}},
		"$defs":{"Node":{"type":"object","properties":{"v":{"type":"integer"},"kids":{"type":"array","items":{"$ref":"#/$defs/Node"}}},"required":["v"],"additionalProperties":false}}}`
	valid := []json.RawMessage{
		json.RawMessage(`{"n":{"v":1}}`), json.RawMessage(`{"n":{"v":1,"kids":[{"v":2,"kids":[{"v":3,"kids":[]}]}]}}`), json.RawMessage(`{"n":{"v":1},"o":{"a":"x","b":2},"p":".-_"}`),
	}
	invalid := []json.RawMessage{
		json.RawMessage(`{}`), json.RawMessage(`{"n":{"v":1,"kids":[{"v":2,"kids":[{"v":"3"}]}]}}`), json.RawMessage(`{"n":{"v":1,"x":2}}`), json.RawMessage(`{"n":{"v":1},"x":1}`),
		json.RawMessage(`{"n":{"v":1},"o":{"b":"2"}}`), json.RawMessage(`{"n":{"v":1},"p":"!-_"}`),
	}
	result, err := openapi.StaticTools(t.Context(), json.RawMessage(`[{"name":"named","inputSchema":`+node+`},{"name":"called","httpMethod":"post","path":"/a","inputSchema":`+node+`}]`), openapi.Options{})
	if err != nil || len(result.Tools) != 2 {
		t.Fatalf("StaticTools() = %+v, %v, want two tools", result, err)
	}
	ajv(t, []checkedSchema{
		{Name: "by name", Schema: result.Tools[0].InputSchema, Valid: valid, Invalid: invalid},
		{Name: "by REST", Schema: result.Tools[1].InputSchema, Valid: valid, Invalid: invalid[:3]},
	})
}
