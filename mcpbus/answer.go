package mcpbus

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strconv"

	"github.com/keystile/keystile/internal/reply"
	"github.com/keystile/keystile/mcpbus/internal/rpc"
)

// pieces holds the bytes of an answer, in order. Pages of the list are kept ready and are one
// piece, never copied; nobody may write to a piece.
type pieces [][]byte

func (p pieces) size() (n int) {
	for _, piece := range p {
		n += len(piece)
	}
	return n
}

// succeeded returns the response to a request; result is its JSON.
func succeeded(id json.RawMessage, result pieces) pieces {
	head := make([]byte, 0, 64+len(id))
	head = append(head, `{"jsonrpc":"2.0","id":`...)
	head = append(head, id...)
	head = append(head, `,"result":`...)
	return append(append(pieces{head}, result...), []byte("}"))
}

// failed returns the response to a refused request; its id is null if the request has none.
func failed(id json.RawMessage, err *rpc.Error) pieces {
	body, _ := encode(struct { // an error of ours always encodes
		Version string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Error   *rpc.Error      `json:"error"`
	}{"2.0", id, err})
	return pieces{body}
}

// encode writes JSON as reply.JSON does: <, > and & stay as they are.
func encode(v any) ([]byte, error) {
	var buf bytes.Buffer
	buf.Grow(512)
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(buf.Bytes(), []byte("\n")), nil
}

// write sends an answer with Cache-Control: no-store, because only its caller may see it.
func write(w http.ResponseWriter, status int, body pieces) {
	reply.NoStore(w)
	h := w.Header()
	h["Content-Type"] = jsonType
	h["X-Content-Type-Options"] = noSniff
	h["Content-Length"] = []string{strconv.Itoa(body.size())}
	w.WriteHeader(status)
	for _, piece := range body {
		w.Write(piece) // a client that has disconnected is no failure of ours
	}
}

// Values that many answers share.
var (
	jsonType   = []string{"application/json"}
	streamType = []string{"text/event-stream"}
	noSniff    = []string{"nosniff"}
)
