package span

import (
	"context"
	"errors"
	"io"
	"maps"
	"net"
	"net/http"
	"strconv"
	"sync"

	"go.opentelemetry.io/otel/trace"
)

// Transport returns a transport whose requests carry the trace of their context, each within a span of kind
// client that ends with the answer's body. Requests that belong to no trace pass as they are.
func Transport(next http.RoundTripper) http.RoundTripper { return transport{next} }

type transport struct{ next http.RoundTripper }

func (t transport) RoundTrip(r *http.Request) (*http.Response, error) {
	if !trace.SpanContextFromContext(r.Context()).IsValid() {
		return t.next.RoundTrip(r)
	}
	ctx, s := Start(r.Context(), Client, methodOf(r.Method))
	r = r.WithContext(ctx)
	if r.Header = maps.Clone(r.Header); r.Header == nil {
		r.Header = http.Header{}
	}
	write(ctx, r.Header)
	if s.On() {
		s.Set("http.request.method", methodOf(r.Method))
		s.Set("server.address", r.URL.Hostname())
		if port, err := strconv.Atoi(r.URL.Port()); err == nil {
			s.SetInt("server.port", port)
		}
	}
	res, err := t.next.RoundTrip(r)
	if !s.On() {
		return res, err
	}
	if err != nil {
		s.Fail(KindOf(ctx, err))
		s.End()
		return res, err
	}
	s.SetInt("http.response.status_code", res.StatusCode)
	if res.StatusCode >= 400 {
		s.Fail(strconv.Itoa(res.StatusCode))
	}
	// the body is the connection, and can be written to
	if res.StatusCode == http.StatusSwitchingProtocols || res.Body == nil {
		s.End()
		return res, nil
	}
	res.Body = &body{ReadCloser: res.Body, span: s}
	return res, nil
}

// body ends a span when it has been read, or is closed.
type body struct {
	io.ReadCloser
	span Span
	once sync.Once
}

func (b *body) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err != nil {
		b.end(err)
	}
	return n, err
}

func (b *body) Close() error {
	b.end(io.EOF) // who closes it has read enough
	return b.ReadCloser.Close()
}

func (b *body) end(why error) {
	b.once.Do(func() {
		if why != io.EOF {
			b.span.Fail(KindOf(context.Background(), why))
		}
		b.span.End()
	})
}

// KindOf returns a word for an error, whose text is told to nobody.
func KindOf(ctx context.Context, err error) string {
	var late net.Error
	switch {
	case errors.Is(err, context.Canceled), errors.Is(ctx.Err(), context.Canceled):
		return "canceled"
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &late) && late.Timeout():
		return "timeout"
	}
	return "_OTHER"
}
