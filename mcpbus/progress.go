package mcpbus

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/keystile/keystile/mcpbus/internal/mcpcall"
	"github.com/keystile/keystile/mcpbus/internal/rpc"
)

// maxToken bounds a progress token, in bytes.
const maxToken = 256

// progressToken returns the token that progress of a request is told with, as it was sent;
// nil if its client did not ask for any, or reads no streams.
func (x *exchange) progressToken(m *rpc.Message) json.RawMessage {
	meta, _ := m.Params.Object("_meta")
	token := meta.Get("progressToken")
	if len(token) == 0 || len(token) > maxToken || token[0] != '"' && token[0] != '-' && (token[0] < '0' || token[0] > '9') {
		return nil
	}
	if x.writer == nil || !readsStreams(x.request.Header) {
		return nil
	}
	return token
}

// readsStreams reports whether a client says that it takes an answer that is a stream.
func readsStreams(h http.Header) bool {
	for _, line := range h["Accept"] {
		for kind := range strings.SplitSeq(line, ",") {
			kind, _, _ = strings.Cut(kind, ";")
			if strings.EqualFold(strings.TrimSpace(kind), "text/event-stream") {
				return true
			}
		}
	}
	return false
}

// progressReporter tells a client how far its call is (MCP 2025-11-25 and 2026-07-28, progress). The
// answer becomes a stream with the first thing there is to tell. A nil teller tells nothing.
type progressReporter struct {
	writer http.ResponseWriter
	id     json.RawMessage // of the request
	token  json.RawMessage
	every  time.Duration
	cancel context.CancelCauseFunc // ends the call: nobody reads the stream

	mu       sync.Mutex // of all below, and of the writer until over
	stopped  bool
	stream   *stream
	timer    *time.Timer
	start    time.Time
	reported float64 // the progress that was told last
	base     float64 // what the clock had told before the upstream began to
	upstream bool    // the upstream tells, and the clock no more
	silent   bool    // nothing was written since the last tick
}

func (x *exchange) newProgressReporter(m *rpc.Message, token json.RawMessage, gone context.CancelCauseFunc) *progressReporter {
	t := &progressReporter{writer: x.writer, id: m.ID, token: token, every: x.bus.c.Progress, cancel: gone, start: time.Now(), reported: -1}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.timer = time.AfterFunc(t.every, t.tick)
	return t
}

// stop ends the telling. The answer is the caller's to write from then on.
func (t *progressReporter) stop() {
	if t == nil {
		return
	}
	t.timer.Stop()
	t.mu.Lock()
	defer t.mu.Unlock()
	t.stopped = true
}

// streaming reports, after stop, whether the answer is a stream.
func (t *progressReporter) streaming() bool { return t != nil && t.stream != nil }

// answer ends the stream with the response.
func (t *progressReporter) answer(body pieces) {
	if !t.stream.broken {
		t.stream.response(body)
	}
}

// tick tells the seconds that have passed; if the upstream tells how far it is, only that
// the call is still under way.
func (t *progressReporter) tick() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.stopped {
		return
	}
	defer t.recoverPanic()
	if !t.upstream {
		t.base = math.Floor(time.Since(t.start).Seconds()) // which grows, because ticks are a second apart
		t.report(t.base, strconv.FormatFloat(t.base, 'f', -1, 64), "")
	} else if t.silent {
		t.write(": alive\n\n")
	}
	t.silent = true
	if !t.stopped {
		t.timer.Reset(t.every)
	}
}

// upstreamProgress tells what the upstream says, unless it is no more than was told before: progress
// must grow. What the clock has told is added.
func (t *progressReporter) upstreamProgress(p mcpcall.Progress) {
	t.mu.Lock()
	defer t.mu.Unlock()
	done, err := strconv.ParseFloat(string(p.Done), 64)
	if t.stopped || err != nil {
		return
	}
	t.upstream = true
	if done += t.base; done <= t.reported {
		return
	}
	more := ""
	if len(p.Total) > 0 {
		more = `,"total":` + t.offset(p.Total)
	}
	if len(p.Message) > 0 {
		more += `,"message":` + string(p.Message)
	}
	t.report(done, t.offset(p.Done), more)
}

// offset is a number of the upstream's on top of what the clock has told; as it was written,
// if that was nothing.
func (t *progressReporter) offset(number json.RawMessage) string {
	n, err := strconv.ParseFloat(string(number), 64)
	if t.base == 0 || err != nil {
		return string(number)
	}
	return strconv.FormatFloat(n+t.base, 'f', -1, 64)
}

func (t *progressReporter) report(done float64, text, more string) {
	t.reported = done
	t.write("event: message\ndata: " + `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":` +
		string(t.token) + `,"progress":` + text + more + "}}\n\n")
}

// write writes on the stream, which it begins. A client that does not read ends its call.
func (t *progressReporter) write(text string) {
	if t.stream == nil {
		t.stream = newStream(t.writer, t.id)
	}
	t.silent = false
	if !t.stream.write(text) {
		t.stopped = true
		t.cancel(context.Canceled)
	}
}

// recoverPanic keeps a panic of a writer, on the goroutine of a timer, from ending the process.
func (t *progressReporter) recoverPanic() {
	if p := recover(); p != nil {
		t.stopped = true
		t.cancel(fmt.Errorf("mcpbus: the answer cannot be written: %v", p))
	}
}
