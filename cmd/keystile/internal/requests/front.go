package requests

import (
	"log/slog"
	"net/http"
	"net/netip"
	"time"

	"github.com/keystile/keystile/internal/reqctx"
	"github.com/keystile/keystile/internal/span"
)

// Config configures Front.
type Config struct {
	Log      *slog.Logger
	Quiet    bool // no line per request
	ClientIP func(*http.Request) netip.Addr
	Observer Observer // nil: none
}

// Observer is told of every request, from many goroutines at once.
type Observer interface {
	Begin()
	End(Seen)
}

// Seen holds what is known of a request when it is over. Every text in it is one of few.
type Seen struct {
	Method string // in capitals, or "other"
	Route  string // as the route tables have it, or "other"
	Status int    // 0: the answer was broken off before it began
	Bytes  int64
	Took   time.Duration
	Grant  string // grant_type of a token request, as it was sent

	TraceID string // of a request whose trace is recorded, else ""
}

// Front returns the middleware.
func Front(c Config) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler { return front{c, next} }
}

type front struct {
	Config
	next http.Handler
}

func (f front) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	r, v, out := begin(w, r)
	if f.Observer != nil {
		f.Observer.Begin()
	}
	defer func() { f.end(r, out, time.Since(v.Began)) }()
	f.next.ServeHTTP(out, r)
	out.begin(http.StatusOK)
}

// begin begins a request, if nobody has, and its recorder: both are one allocation.
func begin(w http.ResponseWriter, r *http.Request) (*http.Request, *reqctx.Visit, *recorder) {
	if v := reqctx.From(r.Context()); v != nil {
		return r, v, &recorder{ResponseWriter: w}
	}
	both := new(struct {
		visit reqctx.Visit
		recorder
	})
	both.ResponseWriter = w
	return reqctx.BeginIn(&both.visit, w, r), &both.visit, &both.recorder
}

func (f front) end(r *http.Request, out *recorder, took time.Duration) {
	quiet := f.Quiet || !f.Log.Enabled(r.Context(), slog.LevelInfo)
	if quiet && f.Observer == nil {
		return
	}
	s := Seen{
		Method: method(r.Method), Route: route(r.Pattern), Status: out.status, Bytes: out.bytes, Took: took,
		Grant: r.PostForm.Get("grant_type"), TraceID: span.SampledID(r.Context()),
	}
	if f.Observer != nil {
		f.Observer.End(s)
	}
	if quiet {
		return
	}
	f.Log.LogAttrs(r.Context(), slog.LevelInfo, lineOfRequest,
		slog.String("method", s.Method), slog.String("path", s.Route), slog.Int("status", s.Status),
		slog.Int64("bytes", s.Bytes), slog.Duration("duration", s.Took), slog.String("ip", f.ClientIP(r).String()))
}

const (
	other         = "other"
	lineOfRequest = "request"
)

func route(pattern string) string {
	switch pattern {
	case "", "/": // no mux, or its answer to what it does not know
		return other
	case "/{$}":
		return "/"
	}
	return pattern
}

func method(sent string) string {
	switch sent {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete,
		http.MethodOptions:
		return sent
	}
	return other
}
