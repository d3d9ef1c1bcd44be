package mcpbus

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// hasLinks reports whether the revision of a legacy request has resource_link (MCP
// 2025-06-18, tools). From that one on clients name their revision with each request.
func hasLinks(h http.Header) bool {
	headers := h[headerVersion]
	return len(headers) == 1 && slices.Contains(linkedRevisions, headers[0])
}

// withoutLinks returns content with a text in place of each resource_link, for clients that
// refuse a whole result because of one block that their revision does not have.
func withoutLinks(content []json.RawMessage) []json.RawMessage {
	out := content
	for i, block := range content {
		if bytes.HasPrefix(block, textBlock) {
			continue // most blocks are texts; a long one is not parsed again
		}
		var link struct{ Type, URI, Name, Description string }
		if json.Unmarshal(block, &link) != nil || link.Type != "resource_link" {
			continue
		}
		if &out[0] == &content[0] {
			out = slices.Clone(content)
		}
		text := fmt.Sprintf("%s: %s", strings.TrimSpace(link.Name+" "+link.URI), link.Description)
		out[i], _ = encode(struct { // texts never fail
			Type string `json:"type"`
			Text string `json:"text"`
		}{"text", strings.TrimSuffix(text, ": ")})
	}
	return out
}

var textBlock = []byte(`{"type":"text"`)
