package registry_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/keystile/keystile/internal/sample"
	"github.com/keystile/keystile/mcpbus"
	"github.com/keystile/keystile/registry/openapi"
	"github.com/keystile/keystile/storage"
)

// Every tool of the sample is called without a server, where no private address may be.
func TestSampleIsCalledWithoutAnUpstream(t *testing.T) {
	r, err := openapi.Parse(t.Context(), sample.Document(), openapi.Options{Member: "sample", ResolveRefs: true})
	if err != nil || len(r.Tools) != 3 || len(r.Skipped) != 0 || r.Server != "https://"+sample.Host {
		t.Fatalf("the sample has %d tools at %s, and leaves out %v: %v", len(r.Tools), r.Server, r.Skipped, err)
	}
	u, err := mcpbus.NewUpstreams(mcpbus.UpstreamsConfig{})
	if err != nil {
		t.Fatal(err)
	}
	defer u.Close(t.Context())
	c := storage.Capability{Member: "sample", Kind: storage.CapabilityREST, UpstreamURL: r.Server, Publish: true}
	for _, tool := range r.Tools {
		call := map[string][2]string{"findBooks": {`{"q":"sea"}`, "Jules Verne"}, "getBook": {`{"id":2}`, "Jane Austen"},
			"placeOrder": {`{"book":3,"copies":2}`, `copies\":2`}}[tool.Name]
		result, err := u.Call(t.Context(), c, tool, json.RawMessage(call[0]))
		if err != nil || result.Cause != nil {
			t.Errorf("%s is %v, %v", tool.Name, err, result.Cause)
			continue
		}
		text, err := json.Marshal(result)
		if err != nil || !strings.Contains(string(text), call[1]) {
			t.Errorf("%s has answered %s, %v", tool.Name, text, err)
		}
	}
}
