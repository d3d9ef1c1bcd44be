package mcpbus

import (
	"encoding/json"
	"slices"

	"github.com/keystile/keystile/mcpbus/internal/rpc"
)

const (
	methodCall   = "tools/call"
	methodListen = "subscriptions/listen"
)

// method answers a request with the JSON of its result.
type method func(*exchange, *rpc.Message) (pieces, *rpc.Error)

func legacyMethods() map[string]method {
	return map[string]method{
		"initialize": (*exchange).initialize,
		"ping":       (*exchange).ping,
		"tools/list": (*exchange).list,
		methodCall:   (*exchange).call,
	}
}

// modernMethods returns the methods that answer at once; listen handles the other one.
func modernMethods() map[string]method {
	return map[string]method{
		"server/discover": (*exchange).discover,
		"tools/list":      (*exchange).list,
		methodCall:        (*exchange).call,
	}
}

// answer calls the method's handler and returns the response.
func (x *exchange) answer(m *rpc.Message) (pieces, *rpc.Error) {
	table := x.bus.methods
	if x.modern {
		table = x.bus.modern
	}
	handle, ok := table[m.Method]
	if !ok {
		return nil, noMethod
	}
	result, wrong := handle(x, m)
	if wrong != nil {
		return nil, wrong
	}
	return succeeded(m.ID, result), nil
}

type serverInfo struct {
	Name    string `json:"name"`
	Version string `json:"version"`
}

// meta names the server in results of the modern revision.
type meta struct {
	Server serverInfo `json:"io.modelcontextprotocol/serverInfo"`
}

func (b *Bus) info() serverInfo { return serverInfo{b.c.Name, b.c.Version} }

// initialize answers the handshake of the legacy revisions. Nothing of it is kept, and later
// requests need no handshake. The session id, with which a client can cancel its calls, is not
// kept either.
func (x *exchange) initialize(m *rpc.Message) (pieces, *rpc.Error) {
	if x.writer != nil { // MCP 2025-03-26 has no initialize in a batch
		x.writer.Header()[headerSession] = []string{newSession()}
	}
	version, _ := m.Params.Text("protocolVersion")
	if !slices.Contains(legacyRevisions, version) {
		version = newestLegacy // the client accepts it or disconnects (MCP 2025-11-25, lifecycle)
	}
	return result(struct {
		Version      string         `json:"protocolVersion"`
		Capabilities map[string]any `json:"capabilities"`
		Server       serverInfo     `json:"serverInfo"`
		Instructions string         `json:"instructions,omitempty"`
	}{version, map[string]any{"tools": struct{}{}}, x.bus.info(), x.bus.c.Instructions})
}

func (x *exchange) ping(*rpc.Message) (pieces, *rpc.Error) { return pieces{[]byte("{}")}, nil }

// discover answers server/discover of the modern revision (MCP 2026-07-28, discovery).
func (x *exchange) discover(*rpc.Message) (pieces, *rpc.Error) {
	type tools struct {
		ListChanged bool `json:"listChanged"`
	}
	return result(struct {
		Type         string           `json:"resultType"`
		Versions     []string         `json:"supportedVersions"`
		Capabilities map[string]tools `json:"capabilities"`
		Instructions string           `json:"instructions,omitempty"`
		TTL          int64            `json:"ttlMs"`
		Scope        string           `json:"cacheScope"`
		Meta         json.RawMessage  `json:"_meta"`
	}{
		"complete", []string{modernRevision}, map[string]tools{"tools": {true}}, x.bus.c.Instructions,
		x.bus.ttl(), "private", x.bus.meta,
	})
}

// ttl returns how long, in ms, a client may cache an answer.
func (b *Bus) ttl() int64 { return b.c.Refresh.Milliseconds() }

func result(v any) (pieces, *rpc.Error) {
	body, _ := encode(v) // of types that always encode
	return pieces{body}, nil
}
