package mcpcall

import (
	"context"
	"encoding/json"
	"strconv"
)

// Progress holds a progress notification of a running call (MCP 2025-11-25, progress).
// Its members are JSON as the upstream wrote it, but for its own credential.
type Progress struct {
	Done    json.RawMessage // a number, which is to grow
	Total   json.RawMessage // a number; nil: the upstream does not know
	Message json.RawMessage // a string of at most 1,024 bytes; nil: none
}

const (
	maxMessage = 1024 // bytes of a Progress.Message
	maxNumber  = 64   // of its numbers
)

type progressKey struct{}

// WithProgress returns a context in which Call requests progress. onProgress is called for each
// notification on the goroutine of the Call: no more of the answer is read before it returns. It
// must not keep its argument.
func WithProgress(ctx context.Context, onProgress func(Progress)) context.Context {
	return context.WithValue(ctx, progressKey{}, onProgress)
}

// ProgressFunc returns the function that WithProgress was given, nil if there is none.
func ProgressFunc(ctx context.Context) func(Progress) {
	onProgress, _ := ctx.Value(progressKey{}).(func(Progress))
	return onProgress
}

// progressToken is the member of _meta that asks for progress. The id of the request is the
// token: no other is under way with it.
func (m *message) progressToken() string {
	return `"progressToken":` + strconv.FormatInt(m.id, 10)
}

// handleNotification passes on a notification of progress of the request with this id. It ignores
// notifications that are malformed or belong to another request.
func (r *response) handleNotification(m map[string]raw, id int64) {
	if r.onProgress == nil || string(m["method"]) != `"notifications/progress"` {
		return
	}
	p := object(m["params"])
	if string(p["progressToken"]) != strconv.FormatInt(id, 10) || !isNumber(p["progress"]) {
		return
	}
	out := Progress{Done: p["progress"]}
	if isNumber(p["total"]) {
		out.Total = p["total"]
	}
	if v := p["message"]; len(v) <= maxMessage {
		if _, is := stringOf(v); is {
			out.Message = v
		}
	}
	r.onProgress(out)
}

func isNumber(v raw) bool {
	if len(v) == 0 || len(v) > maxNumber || v[0] != '-' && (v[0] < '0' || v[0] > '9') {
		return false
	}
	_, err := strconv.ParseFloat(string(v), 64)
	return err == nil
}
