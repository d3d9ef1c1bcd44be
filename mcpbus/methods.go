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

// modernMethods are those that answer at once: see listen for the other.
func modernMethods() map[string]method {
	return map[string]method{
		"server/discover": (*exchange).discover,
		"tools/list":      (*exchange).list,
		methodCall:        (*exchange).call,
	}
}

// answer answers a request.
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

// meta is what results of the modern revision say of the server.
type meta struct {
	Server serverInfo `json:"io.modelcontextprotocol/serverInfo"`
}

func (b *Bus) info() serverInfo { return serverInfo{b.c.Name, b.c.Version} }

// initialize is the handshake of the legacy revisions. It is answered, and nothing of it is
// remembered: what comes next needs no handshake. Nor is the session id, with which a client
// can cancel its calls.
func (x *exchange) initialize(m *rpc.Message) (pieces, *rpc.Error) {
	if x.writer != nil { // MCP 2025-03-26 has no initialize in a batch
		x.writer.Header()[headerSession] = []string{newSession()}
	}
	version, _ := m.Params.Text("protocolVersion")
	if !slices.Contains(legacyRevisions, version) {
		version = newestLegacy // the client goes on with it or not (MCP 2025-11-25, lifecycle)
	}
	return result(struct {
		Version      string         `json:"protocolVersion"`
		Capabilities map[string]any `json:"capabilities"`
		Server       serverInfo     `json:"serverInfo"`
		Instructions string         `json:"instructions,omitempty"`
	}{version, map[string]any{"tools": struct{}{}}, x.bus.info(), x.bus.c.Instructions})
}

func (x *exchange) ping(*rpc.Message) (pieces, *rpc.Error) { return pieces{[]byte("{}")}, nil }

// discover is what the modern revision has instead (MCP 2026-07-28, discovery).
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

// ttl is how long, in ms, a client may go on with what it was told.
func (b *Bus) ttl() int64 { return b.c.Refresh.Milliseconds() }

func result(v any) (pieces, *rpc.Error) {
	body, _ := encode(v) // of types that always encode
	return pieces{body}, nil
}
