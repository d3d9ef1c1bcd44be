package mcpcall

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"
	"time"

	"github.com/keystile/keystile/internal/hop"
	"github.com/keystile/keystile/internal/rawjson"
	"github.com/keystile/keystile/mcpbus/internal/sse"
)

var (
	errEncoding = errors.New("mcpcall: the answer has a content encoding that was not asked for")
	errNoMCP    = errors.New("mcpcall: the answer is no MCP")
	errCutOff   = errors.New("mcpcall: the answer broke off")
)

const maxFault = 64 << 10 // bytes of an answer that is not 2xx

// exchange sends a message and reads the response. A refusal is a response, not an error.
func (c *Client) exchange(ctx context.Context, t *target, l *link, m *message) (*response, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if m.told.Hide != "" {
		hiding := *t
		hiding.credential = t.credential.Hiding(m.told.Hide)
		t = &hiding
	}
	resp, err := c.roundTrip(ctx, t, l, m)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	r := &response{status: resp.StatusCode, session: resp.Header.Get("Mcp-Session-Id"), onProgress: m.onProgress}
	if m.id != 0 {
		r.asks = &asks{client: c, ctx: ctx, target: t, link: l}
		defer r.asks.end()
	}
	switch {
	case r.status < 200 || 300 <= r.status && r.status < 400:
		return r, nil // not read: the body of 101 never ends, that of a redirect has no reader
	case r.status < 300 && m.id == 0:
		return r, nil
	}
	if e := resp.Header.Get("Content-Encoding"); e != "" && !strings.EqualFold(e, "identity") {
		return nil, errEncoding // the transport has undone what it asked for
	}
	// it may get into the log
	media, _, _ := mime.ParseMediaType(string(t.credential.Redact([]byte(resp.Header.Get("Content-Type")))))
	switch {
	case r.status >= 400:
		r.readFault(t, resp.Body)
		return r, nil
	case media == "application/json":
		err = r.readBody(t, resp, m)
	case media == "text/event-stream":
		err = r.readStream(t, resp.Body, m)
		if err == nil {
			linger(resp.Body, cancel)
		}
	default:
		err = fmt.Errorf("%w: its type is %.64q", errNoMCP, media)
	}
	return r, err
}

// post writes the request that carries a message.
func (t *target) post(ctx context.Context, l *link, m *message) *http.Request {
	body := m.body(l.era())
	r := t.request(ctx, http.MethodPost, l)
	r.Header["Content-Type"] = []string{"application/json"}
	r.Header["Accept"] = []string{"application/json, text/event-stream"}
	m.told.Mark(r.Header)
	if l.era() == Modern && m.reply == "" {
		r.Header["Mcp-Method"] = []string{m.method}
		if m.tool != "" {
			r.Header["Mcp-Name"] = []string{headerValue(m.tool)}
		}
		for name, value := range m.header {
			r.Header[name] = []string{headerValue(value)}
		}
	}
	r.ContentLength = int64(len(body))
	// net/http needs the body anew when a kept connection dies before it was written to.
	r.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
	r.Body, _ = r.GetBody()
	return r
}

// request writes the headers that all requests have.
func (t *target) request(ctx context.Context, method string, l *link) *http.Request {
	r := &http.Request{Method: method, URL: &t.url, Host: t.url.Host, Header: http.Header{"User-Agent": {"keystile"}}}
	if c := t.credential; c.Header != "" {
		r.Header[c.Header] = []string{c.Text}
	}
	t.credential.SetMore(r.Header)
	if l.session != "" {
		r.Header["Mcp-Session-Id"] = []string{l.session}
	}
	if l.version >= "2025-06-18" { // which brought the header
		r.Header["Mcp-Protocol-Version"] = []string{l.version}
	}
	hop.Mark(ctx, r.Header)
	return r.WithContext(ctx)
}

// headerValue returns a value as headers carry it (MCP 2026-07-28, Streamable HTTP): as it
// is, or in base64 if it holds what headers may lose.
func headerValue(s string) string {
	odd := func(r rune) bool { return r < ' ' || r > '~' }
	if s == "" || strings.ContainsFunc(s, odd) || strings.TrimSpace(s) != s || strings.HasPrefix(s, "=?base64?") {
		return "=?base64?" + base64.StdEncoding.EncodeToString([]byte(s)) + "?="
	}
	return s
}

// readFault reads the JSON-RPC error of a refusal, if there is one. Its id is ignored: some
// servers refuse before they have read the request.
func (r *response) readFault(t *target, body io.Reader) {
	text, _ := io.ReadAll(io.LimitReader(body, maxFault)) // if it is cut off, it is no JSON
	r.bytes = int64(len(text))
	if text = t.credential.Redact(text); rawjson.Check(text, rawjson.Limits{Depth: maxNested}) == nil {
		r.fault = readFault(object(rawjson.Trim(text))["error"])
	}
}

func (r *response) readBody(t *target, resp *http.Response, m *message) error {
	if resp.ContentLength > m.limit {
		return &tooLong{m.limit, resp.ContentLength}
	}
	var body bytes.Buffer
	body.Grow(int(min(max(resp.ContentLength, 0), 64<<10)) + bytes.MinRead)
	n, err := body.ReadFrom(io.LimitReader(resp.Body, m.limit+1))
	switch r.bytes = n; {
	case n > m.limit:
		return &tooLong{m.limit, 0}
	case err != nil:
		return errors.Join(errCutOff, err)
	}
	found, err := r.findResponse(t.credential.Redact(body.Bytes()), m.id)
	if err == nil && !found {
		err = errWrongID
	}
	if err != nil {
		return errors.Join(errNoMCP, err)
	}
	return nil
}

// readStream reads events until the response comes. Progress is reported and requests are answered meanwhile;
// other messages are passed over.
func (r *response) readStream(t *target, body io.Reader, m *message) error {
	stream := sse.New(body, m.limit)
	for {
		data, err := stream.Next()
		switch {
		case errors.Is(err, sse.ErrTooLong):
			return &tooLong{m.limit, 0}
		case err != nil:
			return errors.Join(errCutOff, err)
		}
		found, err := r.findResponse(t.credential.Redact(data), m.id)
		r.bytes = stream.Bytes()
		if err != nil {
			return errors.Join(errNoMCP, err)
		}
		if found {
			return nil
		}
	}
}

// Bounds of reading a stream whose response has come.
const (
	lingerTime  = 20 * time.Millisecond
	lingerBytes = 4 << 10
)

// linger waits a moment for the end of a stream, so that its connection can be reused.
func linger(body io.Reader, cancel context.CancelFunc) {
	defer time.AfterFunc(lingerTime, cancel).Stop()
	io.CopyN(io.Discard, body, lingerBytes)
}
