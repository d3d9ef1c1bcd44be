package oauth_test

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// call is a request that can be sent again and again for next to nothing.
type call struct {
	template *http.Request
	header   http.Header
	body     string
	want     int
	sink     sink
}

func newCall(method, target, body string) *call {
	r := httptest.NewRequest(method, target, nil)
	if method == "POST" {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	return &call{template: r, header: r.Header, body: body, want: http.StatusOK, sink: sink{header: http.Header{}}}
}

func (c *call) do(b testing.TB, handler http.Handler, want int) {
	r := *c.template
	r.Body = io.NopCloser(strings.NewReader(c.body))
	clear(c.sink.header)
	c.sink.status = http.StatusOK
	c.sink.body.Reset()
	handler.ServeHTTP(&c.sink, &r)
	if c.sink.status != want {
		b.Fatalf("answered %d %s, want %d", c.sink.status, c.sink.body.String(), want)
	}
}

// member cuts a text value out of the answer; it has no escapes in it.
func (c *call) member(b testing.TB, name string) string {
	_, rest, _ := strings.Cut(c.sink.body.String(), `"`+name+`":"`)
	value, _, found := strings.Cut(rest, `"`)
	if !found {
		b.Fatalf("answered %d %s, without %s", c.sink.status, c.sink.body.String(), name)
	}
	return value
}

// sink is a ResponseWriter that is used again.
type sink struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (s *sink) Header() http.Header         { return s.header }
func (s *sink) WriteHeader(status int)      { s.status = status }
func (s *sink) Write(p []byte) (int, error) { return s.body.Write(p) }
