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

// progressToken returns the progress token of a request, as it was sent; nil if its client did
// not request progress, or reads no streams.
func (x *exchange) progressToken(m *rpc.Message) json.RawMessage {
	meta, _ := m.Params.Object("_meta")
	token := meta.Get("progressToken")
	if len(token) == 0 || len(token) > maxToken || token[0] != '"' && token[0] != '-' &&
		(token[0] < '0' || token[0] > '9') {
		return nil
	}
	if x.writer == nil || !readsStreams(x.request.Header) {
		return nil
	}
	return token
}

// readsStreams reports whether a client accepts an event stream as the answer.
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

// progressReporter sends progress of a call to its client (MCP 2025-11-25 and 2026-07-28,
// progress). The answer becomes a stream with the first notification. A nil reporter sends
// nothing.
//
// A call is answered with JSON however long it takes, unless the client requests progress: with a progressToken
// in _meta, and an Accept that names text/event-stream. If then 5 seconds pass (Config.Progress), or the
// upstream sends progress, the answer becomes a stream whose last event is the response. The upstream's
// progress is passed on with the client's token as far as it grows, and from then on only comments keep the
// stream alive; without it, the progress is the seconds that have passed. A batch gets no progress: its answer
// is one text.
type progressReporter struct {
	writer http.ResponseWriter
	id     json.RawMessage // of the request
	token  json.RawMessage
	every  time.Duration
	cancel context.CancelCauseFunc // ends the call when nobody reads the stream

	mu       sync.Mutex // guards the fields below, and the writer until stopped
	stopped  bool
	stream   *stream
	timer    *time.Timer
	start    time.Time
	reported float64 // the progress that was sent last
	base     float64 // seconds reported before the upstream sent progress
	upstream bool    // the upstream sends progress, which replaces the clock's
	silent   bool    // nothing was written since the last tick
}

func (x *exchange) newProgressReporter(m *rpc.Message, token json.RawMessage,
	gone context.CancelCauseFunc) *progressReporter {
	t := &progressReporter{writer: x.writer, id: m.ID, token: token, every: x.bus.c.Progress, cancel: gone,
		start: time.Now(), reported: -1}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.timer = time.AfterFunc(t.every, t.tick)
	return t
}

// stop ends the reporting. From then on the caller writes the answer.
func (t *progressReporter) stop() {
	if t == nil {
		return
	}
	t.timer.Stop()
	t.mu.Lock()
	defer t.mu.Unlock()
	t.stopped = true
}

// streaming reports whether the answer is a stream. Call it after stop.
func (t *progressReporter) streaming() bool { return t != nil && t.stream != nil }

// answer ends the stream with the response.
func (t *progressReporter) answer(body pieces) {
	if !t.stream.broken {
		t.stream.response(body)
	}
}

// tick sends the seconds that have passed as progress; if the upstream sends progress of its
// own, it only keeps the stream alive.
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

// upstreamProgress forwards progress of the upstream, unless it is no more than was sent before:
// progress must grow. The seconds reported before are added.
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

// offset adds the seconds reported before to a number of the upstream; it returns the number as
// it was written if there are none.
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

// write writes to the stream, which it begins if necessary. A failed write cancels the call.
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

// recoverPanic keeps a panic of the writer from ending the process: ticks run on the goroutine
// of a timer.
func (t *progressReporter) recoverPanic() {
	if p := recover(); p != nil {
		t.stopped = true
		t.cancel(fmt.Errorf("mcpbus: the answer cannot be written: %v", p))
	}
}
