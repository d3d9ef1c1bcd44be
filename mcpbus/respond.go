package mcpbus

import (
	"encoding/json"
	"net/http"

	"github.com/keystile/keystile/mcpbus/internal/rpc"
)

// respond writes the response to a request, or its error.
func (x *exchange) respond(w http.ResponseWriter, m *rpc.Message, answer pieces, wrong *rpc.Error) {
	status := http.StatusOK
	if wrong == cancelled {
		x.respondCancelled(w, m.ID)
		return
	}
	if wrong != nil {
		answer = failed(m.ID, wrong)
		if x.modern {
			status = statusOf(wrong)
		}
	}
	if x.progress.streaming() {
		x.progress.answer(answer)
		return
	}
	write(w, status, answer)
}

// respondCancelled answers a cancelled call. There is no JSON-RPC response (MCP 2025-11-25,
// cancellation), but the HTTP request needs an answer: a stream without an event or, for clients
// that read no streams, an error.
func (x *exchange) respondCancelled(w http.ResponseWriter, id json.RawMessage) {
	switch {
	case x.progress.streaming():
		x.progress.stream.clearDeadline()
	case readsStreams(x.request.Header):
		s := newStream(w, id)
		s.write(": cancelled\n\n")
		s.clearDeadline()
	default:
		write(w, http.StatusOK, failed(id, cancelled))
	}
}
