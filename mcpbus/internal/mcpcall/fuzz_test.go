package mcpcall

import (
	"encoding/json"
	"regexp"
	"testing"

	"github.com/keystile/keystile/internal/rawjson"
	"github.com/keystile/keystile/internal/toolschema"
)

var legalNames = regexp.MustCompile(`^[A-Za-z0-9_-]{1,61}$`)

// wholeEntry matches the pointer of an entry of a list, and not that of a part of one.
var wholeEntry = regexp.MustCompile(`^/tools/[0-9]+$`)

func FuzzList(f *testing.F) {
	for _, seed := range []string{
		`{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"a","inputSchema":{"type":"object","properties":{"x":true,"$y":{},"z":{"$ref":"#/$defs/q","x-mcp-header":"Z"}},"required":["x"]}},{"name":"a.b"},{"name":"a b"},7],"ttlMs":1e5}}`,
		`{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"获取","description":"\ud800\u202e","title":null}],"nextCursor":""}}`,
		` [{"jsonrpc":"2.0","method":"x"},{"jsonrpc":"2.0","id":1,"result":{"tools":[],"tools":[]}}]`, `{"jsonrpc":"2.0","id":null,"error":{"code":-32022,"data":{"supported":["2025-11-25"]}}}`,
		`{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"x","inputSchema":{"properties":{"a":{"type":"string","x-mcp-header":"A"},"b":{"properties":{"c":{"type":"integer","x-mcp-header":"a"}}}}}}]}}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		var r response
		found, err := r.findResponse(body, 1)
		if found && (err != nil || r.refused() == (r.fault == nil)) {
			t.Fatalf("find(%q) = %+v, %v", body, r, err)
		}
		if (err == nil) && !json.Valid(body) {
			t.Fatalf("find(%q) takes what is no JSON", body)
		}
		if r.refused() {
			return
		}
		in := newIntake(100)
		if in.add(r.result) != nil {
			return
		}
		all := in.found("m")
		whole := 0 // entries that were left out, beside parts of those that were not
		for _, s := range all.Skipped {
			if wholeEntry.MatchString(s.Pointer) {
				whole++
			}
		}
		bounded := all.TTL >= minTTL && all.TTL <= maxTTL
		if len(all.Names) != len(all.Tools) || len(all.Tools)+whole != in.entries || !bounded {
			t.Errorf("%d entries became %d tools, %d names and %d that were left out; %v", in.entries, len(all.Tools),
				len(all.Names), whole, all.TTL)
		}
		for _, tool := range all.Tools {
			if !legalNames.MatchString(tool.Name) || tool.Description == "" ||
				toolschema.Text(tool.Description) != tool.Description || !json.Valid(tool.InputSchema) {
				t.Errorf("the tool is %+v", tool)
			}
			if again, err := toolschema.Sanitize(tool.InputSchema); err != nil || len(again) == 0 {
				t.Errorf("the schema %s is not one: %v", tool.InputSchema, err)
			}
		}
	})
}

func FuzzResult(f *testing.F) {
	for _, seed := range []string{
		`{"content":[{"type":"text","text":"x","annotations":{"audience":["user"],"priority":1}}],"structuredContent":{"a":[1e999]},"isError":true}`,
		`{"resultType":"input_required"}`, `{"content":[{"type":"image","data":"AA==","mimeType":"image/png"},{"type":"resource","resource":{"uri":"a:b","blob":""}},null,7]}`,
		`{"content":[{"type":"resource_link","uri":"a:b","name":"n","size":1}],"structuredContent":null}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		if rawjson.Check(body, rawjson.Limits{Depth: maxNested}) != nil {
			return
		}
		m := object(rawjson.Trim(body))
		if m == nil {
			return
		}
		r := readResult(m)
		if len(r.Content) == 0 || r.Structured != nil && !json.Valid(r.Structured) {
			t.Errorf("readResult(%s) = %+v", body, r)
		}
		for _, block := range r.Content {
			var b struct{ Type string }
			if json.Unmarshal(block, &b) != nil || blocks[b.Type] == nil || string(readBlock(block)) != string(block) {
				t.Errorf("readResult(%s) has the block %s, which is none or is read as another", body, block)
			}
		}
	})
}
