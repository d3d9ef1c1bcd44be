package requests

import (
	"log/slog"
	"net/http"
	"net/netip"
	"slices"
	"time"

	"github.com/keystile/keystile/internal/reqctx"
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
	began := time.Now()
	r, _ = reqctx.Begin(w, r)
	out := &recorder{ResponseWriter: w}
	if f.Observer != nil {
		f.Observer.Begin()
	}
	defer func() { f.end(r, out, time.Since(began)) }()
	f.next.ServeHTTP(out, r)
	out.begin(http.StatusOK)
}

func (f front) end(r *http.Request, out *recorder, took time.Duration) {
	quiet := f.Quiet || !f.Log.Enabled(r.Context(), slog.LevelInfo)
	if quiet && f.Observer == nil {
		return
	}
	s := Seen{
		Method: method(r.Method), Route: route(r.Pattern), Status: out.status, Bytes: out.bytes, Took: took,
		Grant: r.PostForm.Get("grant_type"),
	}
	if f.Observer != nil {
		f.Observer.End(s)
	}
	if quiet {
		return
	}
	f.Log.LogAttrs(r.Context(), slog.LevelInfo, "request",
		slog.String("method", s.Method), slog.String("path", s.Route), slog.Int("status", s.Status),
		slog.Int64("bytes", s.Bytes), slog.Duration("duration", s.Took), slog.String("ip", f.ClientIP(r).String()))
}

const other = "other"

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
	known := []string{
		http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodOptions,
	}
	if slices.Contains(known, sent) {
		return sent
	}
	return other
}
