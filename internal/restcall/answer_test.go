package restcall

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
)

// called sends the plainest call to a server that answers so.
func called(t *testing.T, c Config, answer http.HandlerFunc) Result {
	t.Helper()
	u := serve(t, false, answer)
	r, err := u.caller(t, c).Call(t.Context(), Upstream{BaseURL: base}, compile(t, get), nil)
	if err != nil || len(r.Content) == 0 || !r.Dispatched {
		t.Fatalf("Call() = %+v, %v, want a result", r, err)
	}
	return r
}

func TestAnswersBecomeContent(t *testing.T) {
	png, latin := "\x89PNG\r\n\x1a\n", "gr\xfc\xdfe"
	b64 := func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }
	for _, c := range []struct{ contentType, body, content, structured string }{
		{"application/json", `{"a": 9007199254740993}`, `{"type":"text","text":"{\"a\": 9007199254740993}"}`, `{"a": 9007199254740993}`},
		{"application/json", ` [1,2]`, `{"type":"text","text":" [1,2]"}`, ` [1,2]`}, {"application/json", `"a"`, `{"type":"text","text":"\"a\""}`, `"a"`}, {"application/json", `null`, `{"type":"text","text":"null"}`, `null`},
		{"application/problem+json", `{}`, `{"type":"text","text":"{}"}`, `{}`}, {"TEXT/JSON; charset=utf-8", `{}`, `{"type":"text","text":"{}"}`, `{}`},
		{"application/json", `{"a":1`, `{"type":"text","text":"{\"a\":1"}`, ""}, {"application/json", `{} {}`, `{"type":"text","text":"{} {}"}`, ""}, {"application/json", strings.Repeat("[", 65) + strings.Repeat("]", 65), "", ""},
		{"text/plain", `{"a":1}`, `{"type":"text","text":"{\"a\":1}"}`, ""}, {"text/html; charset=utf-8", "<p>ä", `{"type":"text","text":"<p>ä"}`, ""}, {"application/xml", "<a/>", `{"type":"text","text":"<a/>"}`, ""}, {"image/svg+xml", "<svg/>", `{"type":"text","text":"<svg/>"}`, ""}, {"application/yaml", "a: 1", `{"type":"text","text":"a: 1"}`, ""},
		{"", "plain", `{"type":"text","text":"plain"}`, ""}, {"not a type;;", "plain", `{"type":"text","text":"plain"}`, ""},
		{"", "a\x00b", `{"type":"resource","resource":{"uri":"urn:keystile:answer","mimeType":"application/octet-stream","blob":"` + b64("a\x00b") + `"}}`, ""},
		{"text/plain", latin, `{"type":"resource","resource":{"uri":"urn:keystile:answer","mimeType":"text/plain","blob":"` + b64(latin) + `"}}`, ""}, {"application/json", `"` + latin + `"`, `{"type":"text","text":"\"gr\ufffd\ufffde\""}`, ""},
		{"application/pdf", "%PDF", `{"type":"resource","resource":{"uri":"urn:keystile:answer",` +
			`"mimeType":"application/pdf","blob":"` + b64("%PDF") + `"}}`, ""},
		{"application/octet-stream", "a\x01b",
			`{"type":"resource","resource":{"uri":"urn:keystile:answer","mimeType":"application/octet-stream",` +
				`"blob":"` + b64("a\x01b") + `"}}`, ""},
		{"application/octet-stream", "a\tb\n", `{"type":"text","text":"a\tb\n"}`, ""},
		{"application/jsonl", "{}\n{}\n", `{"type":"text","text":"{}\n{}\n"}`, ""},
		{"application/json-seq", "\x1e{}\n", `{"type":"text","text":"\u001e{}\n"}`, ""},
		{"application/openmetrics-text; version=1.0.0", "up 1\n", `{"type":"text","text":"up 1\n"}`, ""},
		{"application/x-pem-file", "\ufeff-----BEGIN", `{"type":"text","text":"-----BEGIN"}`, ""},
		{"application/x-unheard-of", latin,
			`{"type":"resource","resource":{"uri":"urn:keystile:answer","mimeType":"application/x-unheard-of",` +
				`"blob":"` + b64(latin) + `"}}`, ""},
		{"font/woff", "abc", `{"type":"resource","resource":{"uri":"urn:keystile:answer","mimeType":"font/woff",` +
			`"blob":"` + b64("abc") + `"}}`, ""},
		{"application/x-unheard-of; charset=iso-8859-1", latin, `{"type":"text","text":"grüße"}`, ""},
		{"application/x-unheard-of; charset=utf-16le", "g\x00\xfc\x00", `{"type":"text","text":"gü"}`, ""},
		{"image/png", png, `{"type":"image","data":"` + b64(png) + `","mimeType":"image/png"}`, ""}, {"Image/JPEG; q=1", png, `{"type":"image","data":"` + b64(png) + `","mimeType":"image/jpeg"}`, ""}, {"audio/mpeg", "ID3\x00", `{"type":"audio","data":"` + b64("ID3\x00") + `","mimeType":"audio/mpeg"}`, ""},
		{"application/json", "", `{"type":"text","text":"HTTP 200 OK, with no content"}`, ""}, {"image/png", "", `{"type":"text","text":"HTTP 200 OK, with no content"}`, ""},
	} {
		r := called(t, Config{}, func(w http.ResponseWriter, _ *http.Request) {
			w.Header()["Content-Type"] = []string{c.contentType}
			io.WriteString(w, c.body)
		})
		content, err := json.Marshal(r.Content[0])
		if c.content == "" {
			content = nil
		}
		if err != nil || r.IsError || len(r.Content) != 1 || r.Status != 200 || r.Bytes != int64(len(c.body)) ||
			c.content != "" && !sameJSON(t, content, raw(c.content)) {
			t.Errorf("%s %q: %+v, %s, want %s", c.contentType, c.body, r, content, c.content)
		}
		if string(r.Structured) != c.structured || (r.Structured == nil) != (c.structured == "") {
			t.Errorf("%s %q: the structured content is %q, want %q", c.contentType, c.body, r.Structured, c.structured)
		}
	}
}

func TestAnswersThatAreNoSuccess(t *testing.T) {
	for _, c := range []struct {
		status           int
		body             string
		header           []string
		text, structured string
	}{
		{400, "no", []string{"Content-Type", "text/plain"}, "HTTP 400 Bad Request\nno", ""},
		{404, "", nil, "HTTP 404 Not Found, with no content", ""},
		{599, "x", []string{"Content-Type", "text/plain"}, "HTTP 599\nx", ""},
		{422, `{"e":1}`, []string{"Content-Type", "application/json"}, "HTTP 422 Unprocessable Entity\n" + `{"e":1}`, `{"e":1}`}, {500, "\x00\x01", []string{"Content-Type", "image/png"}, "HTTP 500 Internal Server Error, with 2 bytes that are no text", ""},
		{503, "later", []string{"Content-Type", "text/plain"}, "HTTP 503 Service Unavailable\nlater", ""},
		{301, "moved", []string{"Location", "/login?token=S"}, "HTTP 301 Moved Permanently: the upstream redirects, which",
			""}, {302, "", []string{"Location", "https://api.example.test/v2"}, "redirects, which", ""},
		{307, "", []string{"Location", "https://other.example.test/?token=S"}, "redirects to other.example.test, which", ""},
		{308, "", []string{"Location", "http://169.254.169.254/"}, "redirects, which", ""},
		{302, "", []string{"Location", "file:///etc/passwd"}, "redirects, which", ""},
		{302, "", []string{"Location", "https://user:pass@a/"}, "redirects, which", ""},
		{304, "", nil, "HTTP 304 Not Modified", ""}, {300, "choose", nil, "HTTP 300 Multiple Choices", ""},
	} {
		r := called(t, Config{}, answers(c.status, c.body, c.header...))
		if !r.IsError || r.Status != c.status || len(r.Content) != 1 || !strings.Contains(texts(r), c.text) ||
			string(r.Structured) != c.structured {
			t.Errorf("%d %q: %+v, want an error with %q", c.status, c.body, r, c.text)
		}
		if strings.Contains(texts(r), "token") || strings.Contains(texts(r), "169.254") || c.status < 400 &&
			strings.Contains(texts(r), "moved") {
			t.Errorf("%d: the text is %q, want no location and no body", c.status, texts(r))
		}
	}
}

func TestAnswerThatSwitchesProtocolsIsNotRead(t *testing.T) {
	r := called(t, Config{}, func(w http.ResponseWriter, _ *http.Request) {
		conn, _, err := w.(http.Hijacker).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		t.Cleanup(func() { conn.Close() })
		io.WriteString(conn, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n")
	})
	if !r.IsError || r.Status != 101 || texts(r) != "HTTP 101 Switching Protocols" {
		t.Errorf("the result is %+v, want an error", r)
	}
}

func TestCapCountsWhatIsReadAfterDecompression(t *testing.T) {
	const most = 1000
	body := func(n int) string { return `"` + strings.Repeat("a", n-2) + `"` }
	for _, c := range []struct {
		name   string
		size   int
		answer func(w http.ResponseWriter, body string)
	}{
		{"announced", most, func(w http.ResponseWriter, body string) { io.WriteString(w, body) }},
		{"chunked", most, func(w http.ResponseWriter, body string) {
			w.(http.Flusher).Flush()
			io.WriteString(w, body)
		}},
		{"compressed", most, func(w http.ResponseWriter, body string) {
			w.Header().Set("Content-Encoding", "gzip")
			z := gzip.NewWriter(w)
			io.WriteString(z, body)
			z.Close()
		}},
	} {
		for _, over := range []int{0, 1} {
			r := called(t, Config{MaxResponse: most}, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				c.answer(w, body(most+over))
			})
			if whole := over == 0; r.IsError == whole || (r.Structured != nil) != whole ||
				strings.Contains(texts(r), "aaa") != whole || !whole && !strings.Contains(texts(r), "1000 bytes") {
				t.Errorf("%s, %d over: IsError %t, %.80q", c.name, over, r.IsError, texts(r))
			}
		}
	}
}

func TestAnswerReadingIsBounded(t *testing.T) {
	var squeezed bytes.Buffer
	z := gzip.NewWriter(&squeezed)
	z.Write(make([]byte, 1<<20))
	z.Close()
	r := called(t, Config{}, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Content-Encoding", "gzip")
		w.Write(bytes.Repeat(squeezed.Bytes(), 64)) // 64 MB in 64 members (RFC 1952 2.2)
	})
	if !r.IsError || !strings.Contains(texts(r), "1048576 bytes") || r.Structured != nil {
		t.Errorf("a gzip bomb: %+v, want an error that names the cap", r)
	}

	var written atomic.Int64
	stopped := make(chan struct{})
	r = called(t, Config{}, func(w http.ResponseWriter, _ *http.Request) {
		defer close(stopped)
		for block := make([]byte, 64<<10); written.Load() < 64<<20; {
			n, err := w.Write(block)
			written.Add(int64(n))
			if err != nil {
				return
			}
		}
	})
	<-stopped
	if !r.IsError || !strings.Contains(texts(r), "1048576 bytes") || written.Load() >= 64<<20 {
		t.Errorf("64 MB: %+v after %d bytes, want an error and a closed connection", r, written.Load())
	}
}

func TestAnswerThatIsAnnouncedAsTooLongIsNotRead(t *testing.T) {
	c := newCaller(t, Config{MaxResponse: 9, Transport: roundTrip(func(*http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: 200, ContentLength: 10, Body: unread{t}}, nil
	})})
	r, err := c.Call(t.Context(), Upstream{BaseURL: base}, compile(t, get), nil)
	if err != nil || !r.IsError || !strings.Contains(texts(r), "9 bytes") {
		t.Errorf("Call() = %+v, %v, want an error that names the cap", r, err)
	}
}

// unread is a body that must not be read.
type unread struct{ t *testing.T }

func (u unread) Read([]byte) (int, error) {
	u.t.Error("the body is read")
	return 0, io.EOF
}

func (unread) Close() error { return nil }

func TestTruncatedAnswerIsNotPassedOn(t *testing.T) {
	whole := `[1,2]` + strings.Repeat(" ", 100)
	for name, wire := range map[string]string{
		"by length":       "Content-Length: 105\r\n\r\n" + whole[:50],
		"in chunks":       "Transfer-Encoding: chunked\r\n\r\n5\r\n[1,2]\r\n",
		"within a chunk":  "Transfer-Encoding: chunked\r\n\r\nff\r\n[1,2]",
		"a bad chunk":     "Transfer-Encoding: chunked\r\n\r\n5\r\n[1,2]\r\nzz\r\n",
		"gzip that is no": "Content-Encoding: gzip\r\nContent-Length: 5\r\n\r\n[1,2]",
	} {
		r := called(t, Config{}, func(w http.ResponseWriter, _ *http.Request) {
			conn, _, err := w.(http.Hijacker).Hijack()
			if err != nil {
				t.Error(err)
				return
			}
			io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"+wire)
			conn.Close()
		})
		if !r.IsError || r.Structured != nil || strings.Contains(texts(r), "[1,2]") ||
			!strings.Contains(texts(r), "broke off") || !errors.Is(r.Cause, errBroken) {
			t.Errorf("%s: %+v, want an error without the piece", name, r)
		}
	}
}

func TestUnrequestedContentEncodingIsAnError(t *testing.T) {
	for encoding, bad := range map[string]bool{"br": true, "gzip, gzip": true, "zstd": true, "identity": false,
		"": false} {
		r := called(t, Config{}, answers(200, "[1]", "Content-Type", "application/json", "Content-Encoding", encoding))
		if r.IsError != bad || (r.Structured == nil) != bad || bad && !strings.Contains(texts(r), "content encoding") {
			t.Errorf("%q: %+v, want an error %t", encoding, r, bad)
		}
	}
}
