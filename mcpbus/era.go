package mcpbus

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"github.com/keystile/keystile/mcpbus/internal/rpc"
)

// Revisions of MCP. The modern one sends with each request what the legacy ones send once, with
// initialize.
const (
	modernRevision = "2026-07-28"
	newestLegacy   = "2025-11-25"
)

var (
	legacyRevisions  = []string{newestLegacy, "2025-06-18", "2025-03-26", "2024-11-05"}
	batchedRevisions = legacyRevisions[2:]
	linkedRevisions  = legacyRevisions[:2]
)

const (
	metaVersion      = "io.modelcontextprotocol/protocolVersion"
	metaCapabilities = "io.modelcontextprotocol/clientCapabilities"
	metaServer       = "io.modelcontextprotocol/serverInfo"
	metaSubscription = "io.modelcontextprotocol/subscriptionId"
)

// The headers as net/http spells them.
const (
	headerVersion = "Mcp-Protocol-Version"
	headerMethod  = "Mcp-Method"
	headerName    = "Mcp-Name"
)

// isModern reports whether a message itself claims to be of the modern revision.
//
// A request of the modern revision is recognised by its _meta or its header; all others are legacy, with or
// without a handshake, and errors of their messages have status 200.
func isModern(m *rpc.Message) bool {
	meta, _ := m.Params.Object("_meta")
	return meta.Get(metaVersion) != nil
}

// era decides which revision a message belongs to, and checks what the modern one requires (MCP
// 2026-07-28, transports). A message with neither its _meta nor its header is legacy.
func era(h http.Header, m *rpc.Message) (modern bool, wrong *rpc.Error) {
	meta, _ := m.Params.Object("_meta")
	claimed := meta.Get(metaVersion)
	headers := h[headerVersion]
	if claimed == nil && (len(headers) == 0 || len(headers) == 1 && slices.Contains(legacyRevisions, headers[0])) {
		return false, nil
	}
	version, isText := meta.Text(metaVersion)
	_, hasCapabilities := meta.Object(metaCapabilities)
	switch {
	case claimed != nil && !isText:
		return true, noVersion
	case len(headers) != 1, claimed != nil && version != headers[0]:
		return true, versionHeader
	case headers[0] != modernRevision:
		return true, unsupported(headers[0])
	case m.IsRequest() && claimed == nil:
		return true, noVersion
	case m.IsRequest() && !hasCapabilities:
		return true, noCapabilities
	case !single(h[headerMethod], m.Method):
		return true, methodHeader
	}
	if name, ok := m.Params.Text("name"); ok && m.Method == methodCall && !single(decodeHeader(h[headerName]), name) {
		return true, nameHeader
	}
	return true, nil
}

// unsupported returns the error for a revision that is not supported; it names those that are.
func unsupported(requested string) *rpc.Error {
	data, _ := json.Marshal(struct { // texts never fail
		Supported []string `json:"supported"`
		Requested string   `json:"requested"`
	}{[]string{modernRevision}, requested[:min(len(requested), 64)]})
	return &rpc.Error{Code: rpc.UnsupportedVersion,
		Text: "this revision of the protocol is not spoken here: see data.supported, or begin with initialize", Data: data}
}

func single(values []string, want string) bool { return len(values) == 1 && values[0] == want }

// decodeHeader decodes =?base64?...?=, the form of values that no header can hold.
func decodeHeader(values []string) []string {
	if len(values) != 1 {
		return nil
	}
	text, ok := strings.CutPrefix(values[0], "=?base64?")
	if !ok {
		return values
	}
	if text, ok = strings.CutSuffix(text, "?="); !ok {
		return values
	}
	raw, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return nil
	}
	return []string{string(raw)}
}

// hasBatches reports whether the revision of a request has batches. A request that names no
// revision counts as 2025-03-26, as that revision demands.
func hasBatches(h http.Header) bool {
	headers := h[headerVersion]
	return len(headers) == 0 || len(headers) == 1 && slices.Contains(batchedRevisions, headers[0])
}
