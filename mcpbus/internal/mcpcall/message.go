package mcpcall

import (
	"encoding/json"
	"errors"
	"slices"
	"strconv"

	"github.com/keystile/keystile/internal/callerhead"
	"github.com/keystile/keystile/internal/rawjson"
)

// modern is the revision of MCP without a handshake.
const modern = "2026-07-28"

// legacy lists the revisions that begin with a handshake, the newest first.
var legacy = []string{"2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"}

// Codes of JSON-RPC errors (JSON-RPC 2.0 5.1, MCP 2026-07-28).
const (
	codeNoMethod       = -32601
	codeBadParams      = -32602
	codeHeaderMismatch = -32020
	codeNoCapability   = -32021
	codeNoVersion      = -32022
)

const clientInfo = `{"name":"keystile","version":"1"}`

const meta = `"io.modelcontextprotocol/protocolVersion":"` + modern + `",` +
	`"io.modelcontextprotocol/clientInfo":` + clientInfo + `,"io.modelcontextprotocol/clientCapabilities":{}`

// message is a JSON-RPC request or, without an id, a notification or the answer to a request of the upstream.
type message struct {
	reply      string // the whole answer; "": it is none
	id         int64
	method     string
	params     string            // members of params, without the braces
	tool       string            // of tools/call
	arguments  raw               // of tools/call; part of params
	header     map[string]string // Mcp-Param-*, by their whole names
	limit      int64             // bytes of the answer
	onProgress func(Progress)    // nil: no progress is requested
	told       callerhead.Told   // of tools/call alone: a session is of all callers
}

// body encodes a message for an upstream of an era.
func (m *message) body(e Era) []byte {
	if m.reply != "" {
		return []byte(m.reply)
	}
	out := append(make([]byte, 0, 320+len(m.params)), `{"jsonrpc":"2.0",`...)
	if m.id != 0 {
		out = append(strconv.AppendInt(append(out, `"id":`...), m.id, 10), ',')
	}
	out = append(append(append(out, `"method":"`...), m.method...), `","params":{`...)
	out = append(out, m.params...)
	wantsProgress := m.onProgress != nil && m.id != 0
	if e != Modern && !wantsProgress {
		return append(out, "}}"...)
	}
	if m.params != "" {
		out = append(out, ',')
	}
	out = append(out, `"_meta":{`...)
	if wantsProgress {
		out = append(out, m.progressToken()...)
	}
	if e == Modern && wantsProgress {
		out = append(out, ',')
	}
	if e == Modern {
		out = append(out, meta...)
	}
	return append(out, "}}}"...)
}

func quote(s string) string {
	out, _ := json.Marshal(s) // strings cannot fail
	return string(out)
}

// response holds an upstream's answer to one message.
type response struct {
	status     int
	session    string
	bytes      int64
	result     map[string]raw
	fault      *fault // the JSON-RPC error, in place of a result
	trouble    error  // of a probe: why the answer is not MCP
	onProgress func(Progress)
	asks       *asks // of the exchange; nil: what the upstream asks is not answered
}

// refused reports whether the answer has no result.
func (r *response) refused() bool { return r.result == nil }

// fault holds a JSON-RPC error.
type fault struct {
	code    int64
	message string
	data    map[string]raw
}

func (r *response) code() int64 {
	if r.fault == nil {
		return 0
	}
	return r.fault.code
}

// fromModern reports a refusal that only servers of the modern era give.
func (r *response) fromModern() bool {
	return slices.Contains([]int64{codeHeaderMismatch, codeNoCapability}, r.code())
}

var (
	errNoRPC   = errors.New("no JSON-RPC message")
	errWrongID = errors.New("the response to another request")
)

// findResponse looks for the response to a request in a text: one message or, as 2025-03-26
// allows, a batch. It reports whether it found it. Requests of the upstream are answered, and
// notifications but for progress are passed over.
func (r *response) findResponse(body []byte, id int64) (found bool, err error) {
	if err := rawjson.Check(body, rawjson.Limits{Depth: maxNested}); err != nil {
		return false, errors.Join(errNoRPC, err)
	}
	whole := rawjson.Trim(body)
	if whole[0] != '[' {
		return r.readMessage(whole, id)
	}
	for m := range rawjson.Elements(whole) {
		one, err := r.readMessage(m, id)
		if err != nil && !found {
			return false, err
		}
		found = found || one // and on: more may be asked behind it
	}
	return found, nil
}

func (r *response) readMessage(text raw, id int64) (bool, error) {
	m := object(text)
	if string(m["jsonrpc"]) != `"2.0"` {
		return false, errNoRPC
	}
	if m["method"] != nil {
		r.handleNotification(m, id)
		if r.asks != nil {
			r.asks.answer(m, r.session)
		}
		return false, nil
	}
	if r.result != nil || r.fault != nil {
		return false, nil // the first one counts
	}
	failed := m["error"] != nil
	if string(m["id"]) != strconv.FormatInt(id, 10) && !(failed && !present(m["id"])) {
		return false, nil
	}
	if result := object(m["result"]); result != nil && !failed {
		r.result = result
		return true, nil
	}
	r.fault = readFault(m["error"])
	if r.fault == nil || m["result"] != nil {
		return false, errNoRPC
	}
	return true, nil
}

func readFault(text raw) *fault {
	m := object(text)
	code, err := strconv.ParseInt(string(m["code"]), 10, 64)
	if err != nil {
		return nil
	}
	f := &fault{code: code, data: object(m["data"])}
	json.Unmarshal(m["message"], &f.message) // "" if it is no text
	return f
}
