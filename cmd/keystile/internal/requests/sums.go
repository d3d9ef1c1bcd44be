package requests

import (
	"context"
	"log"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/keystile/keystile/internal/reqctx"
)

const (
	linesOfKind = 60          // that strangers cause, written in a minute; what is more is summed
	maxKinds    = 200         // in a minute, of requests, of errors and of other texts each; further ones are one kind
	sumEvery    = time.Minute // from the first line on
)

// kind tells lines apart that are summed by themselves: each has few values.
type kind struct {
	level        slog.Level
	message      string
	method, path string // of a request
	status       int    // of a request
	cause        string // of an error
}

// sum holds what there was of a kind within a minute.
type sum struct {
	written, more int
}

// sums counts the lines that strangers cause.
type sums struct {
	out slog.Handler

	mu     sync.Mutex
	kinds  map[kind]*sum
	made   [3]int      // of these, those of requests, of errors with a cause, and of other texts
	timer  *time.Timer // writes what was summed; nil: no minute has begun
	closed bool
}

// takes reports whether a line is to be written; else it is summed.
func (s *sums) takes(k kind) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return true
	}
	if s.timer == nil {
		s.timer = time.AfterFunc(sumEvery, s.flush)
	}
	of := s.kinds[k]
	if of == nil {
		k = s.bounded(k)
		of = s.kinds[k]
	}
	if of == nil {
		of = new(sum)
		s.kinds[k] = of
	}
	if of.written < linesOfKind {
		of.written++
		return true
	}
	of.more++
	return false
}

// bounded returns the kind that a line is of which is the first of its own. Strangers make as many kinds of requests as
// there are paths and statuses, so they share what is left of these among themselves: what the service says of itself,
// such as that a sign-in was refused, has a kind for each of its texts whatever they do.
func (s *sums) bounded(k kind) kind {
	class, rest := 2, kind{level: k.level, message: other} // there are fewer texts than that
	switch {
	case k.message == lineOfRequest:
		class, rest = 0, kind{level: slog.LevelInfo, message: other}
	case k.cause != "":
		class, rest = 1, kind{level: k.level, message: k.message}
	}
	if s.made[class] >= maxKinds {
		return rest
	}
	s.made[class]++
	return k
}

// flush writes a line for each kind of which there was more, and ends the minute.
func (s *sums) flush() {
	s.mu.Lock()
	kinds := s.kinds
	s.kinds, s.made, s.timer = map[kind]*sum{}, [3]int{}, nil
	s.mu.Unlock()
	for k, of := range kinds {
		if of.more > 0 {
			s.write(k, of.more)
		}
	}
}

func (s *sums) write(k kind, more int) {
	r := slog.NewRecord(time.Now(), k.level, "more of the same", 0)
	r.AddAttrs(slog.Int("count", more), slog.String("of", k.message))
	if k.message == lineOfRequest {
		r.AddAttrs(slog.String("method", k.method), slog.String("path", k.path), slog.Int("status", k.status))
	}
	if k.cause != "" {
		r.AddAttrs(slog.String("err", k.cause))
	}
	s.out.Handle(context.Background(), r)
}

// close writes what was summed. After that every line is written.
func (s *sums) close() {
	s.mu.Lock()
	s.closed = true
	if s.timer != nil {
		s.timer.Stop()
	}
	s.mu.Unlock()
	s.flush()
}

// stranger reports whether a line is one that anybody can cause at any rate, and its kind. Callers that are
// known, by a token, a session or a secret, have a rate; requests that are refused for exceeding it do not count
// as known.
func stranger(ctx context.Context, r *slog.Record) (k kind, is bool) {
	if ctx.Value(fromServer{}) != nil {
		return kind{level: r.Level, message: opening(r.Message)}, true
	}
	v := reqctx.From(ctx)
	if v == nil {
		return kind{}, false // of the service itself
	}
	k = kind{level: r.Level, message: r.Message}
	r.Attrs(func(a slog.Attr) bool {
		switch {
		case k.message != lineOfRequest:
			if r.Level >= slog.LevelError && a.Key == "err" { // each of them may be another trouble
				k.cause = cut(a.Value.String())
			}
		case a.Key == "method":
			k.method = a.Value.String()
		case a.Key == "path":
			k.path = a.Value.String()
		case a.Key == "status":
			k.status = int(a.Value.Int64())
		}
		return true
	})
	return k, !identified(v) || k.status == http.StatusTooManyRequests
}

// identified reports whether a request counts for somebody who is known, and not for its address.
func identified(v *reqctx.Visit) bool { return v.Known || v.Identified }

// fromServer marks what an http.Server says by itself: its connections have no request yet.
type fromServer struct{}

// ServerLog returns what an http.Server logs to, such as requests that cannot be read.
func ServerLog(log *slog.Logger) *log.Logger {
	return slog.NewLogLogger(server{log.Handler()}, slog.LevelWarn)
}

type server struct{ slog.Handler }

func (s server) Handle(ctx context.Context, r slog.Record) error {
	return s.Handler.Handle(context.WithValue(ctx, fromServer{}, true), r)
}

// opening returns the words of a message before the first that tells one from another, such as an address.
func opening(message string) string {
	message = cut(message)
	if i := strings.IndexAny(message, `0123456789"[`); i > 0 {
		return message[:i]
	}
	return message
}

func cut(text string) string { return text[:min(100, len(text))] }
