package upstream

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"slices"
	"strings"
	"testing"
)

// sentBy returns the bytes that a client sends for a request, "" if it sends none, and whether it returned an error.
func sentBy(r *http.Request, client func(*http.Transport) http.RoundTripper) (string, bool) {
	p := &played{answers: last("HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")}
	next := bounds(p.dial)
	defer next.CloseIdleConnections()
	res, err := client(next).RoundTrip(r)
	if err == nil {
		res.Body.Close()
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return strings.Join(p.sent, ""), err != nil
}

// inOrder sorts the fields of a request, whose order says nothing, but for those of one name.
func inOrder(request string) string {
	head, body, _ := strings.Cut(request, "\r\n\r\n")
	lines := strings.Split(head, "\r\n")
	slices.SortStableFunc(lines[min(len(lines), 1):], func(a, b string) int {
		a, _, _ = strings.Cut(a, ":")
		b, _, _ = strings.Cut(b, ":")
		return strings.Compare(a, b)
	})
	return strings.Join(append(lines, "", body), "\r\n")
}

// odd makes a request that may be plain, unusual or impossible.
func odd(random *rand.Rand) func() *http.Request {
	pick := func(plain string, odd ...string) string { // mostly what is plain
		if random.IntN(6) > 0 {
			return plain
		}
		return odd[random.IntN(len(odd))]
	}
	method := []string{"GET", "POST", "PUT", "DELETE", "PATCH", "HEAD", "OPTIONS", "PROPFIND", ""}[random.IntN(9)]
	if random.IntN(9) == 0 {
		method = pick("GET", "BAD METHOD", "G\r\nX: y", "CONNECT", "TRACE")
	}
	u := url.URL{Scheme: pick("http", "ftp", ""), ForceQuery: random.IntN(9) == 0,
		Host: pick("a.example", "a.example:8080", "[::1]:80", "[fe80::1%25lo]:80", "\u00e4.example", "a b", "",
			"a.example:", "127.0.0.1:9", "a.example\r\nX: y", "a/b", "[::1]", "a@b:1", "a:b:1"),
		Path:     pick("/a", "", "/", "/a b", "/a/../b", "/\u00e4", "*", "x", "/%2F", "/a\r\nb", "/a;b=c"),
		RawPath:  pick("", "/%2F", "/a%2fb"),
		RawQuery: pick("a=b", "", "a b", "a=\u00e4", "a=\x00", "a=\x7f", "a=b\r\nX: y", "?", "%zz"), Fragment: pick("", "f")}
	if random.IntN(40) == 0 {
		u.Opaque = pick("//a/b", "opaque")
	}
	host := pick("", "b.example", "b.example:80", "bad host", "b\r\nX: y", "\u00fc.example", "[::1%lo]", "b.example:",
		"a/b")
	header := http.Header{}
	for range random.IntN(6) {
		name := pick([]string{"X-A", "x-a", "Accept", "User-Agent", "Content-Length", "Host", "Te", "Cookie"}[random.IntN(8)],
			"Accept-Encoding", "Range", "Transfer-Encoding", "Trailer", "Connection", "Upgrade", "Expect", "Bad Name", "",
			"X\r\nY",
			"Idempotency-Key", "Keep-Alive")
		for range random.IntN(3) {
			header[name] = append(header[name], pick("a", "", " a\t", "a,b", "a\r\nX: y", "a\x00", "\u00e4\xff", "chunked", "5"))
		}
		if random.IntN(20) == 0 {
			header[name] = nil
		}
	}
	if random.IntN(40) == 0 {
		header = nil
	}
	text, length, has := strings.Repeat("b", 2+random.IntN(3)*random.IntN(maxBody)), int64(random.IntN(3)-1),
		random.IntN(3)
	wrong := int64(0)
	if length != 0 && random.IntN(20) == 0 {
		wrong = length
	}
	closes, encodings, trailer := random.IntN(20) == 0, random.IntN(20) == 0, random.IntN(20) == 0
	return func() *http.Request {
		u := u
		r := &http.Request{Method: method, URL: &u, Host: host, Header: header.Clone(), Close: closes}
		switch has {
		case 1:
			r.Body, r.ContentLength = io.NopCloser(strings.NewReader(text)), int64(len(text))
		case 2:
			r.Body = http.NoBody
		}
		r.ContentLength += wrong
		if encodings {
			r.TransferEncoding = []string{"chunked"}
		}
		if trailer {
			r.Trailer = http.Header{"X-T": {"a"}}
		}
		return r
	}
}

// isTooLong reads the body of a request and reports whether it is longer than its ContentLength says.
func isTooLong(r *http.Request) bool {
	if r.Body == nil || r.ContentLength <= 0 {
		return false
	}
	n, _ := io.Copy(io.Discard, r.Body)
	return n > r.ContentLength
}

func TestRequestIsWrittenAsNetHTTPWritesIt(t *testing.T) {
	seed, alone := rand.Uint64(), 0
	random := rand.New(rand.NewPCG(seed, 0))
	n := answersOf(t, 5_000)
	for range n {
		state := random.Uint64()
		first, second := odd(rand.New(rand.NewPCG(state, 1))), odd(rand.New(rand.NewPCG(state, 1)))
		want, wantFailed := sentBy(first(), func(next *http.Transport) http.RoundTripper { return next })
		r := second()
		_, sentHere := appendHead(nil, r, false)
		if sentHere {
			alone++
		}
		got, failed := sentBy(r, func(next *http.Transport) http.RoundTripper { return ours(next) })
		if wantFailed && failed && len(want) > 0 &&
			r.Body != nil { // of a body that is too short net/http sends the beginning
			want, got = "", ""
		}
		if isTooLong(second()) { // net/http sends what fits, and fails unless the answer comes before it sees the rest
			if sentHere && (got != "" || !failed) {
				t.Fatalf("seed %d: %+v has too long a body and is sent as %q, failed %t", seed, r, got, failed)
			}
			continue
		}
		if failed != wantFailed || inOrder(got) != inOrder(want) {
			t.Fatalf("seed %d: %+v is sent as %q, failed %t; net/http: %q, failed %t", seed, r, got, failed, want, wantFailed)
		}
	}
	if alone < n/10 {
		t.Errorf("%d of %d requests were sent here, too few to show anything", alone, n)
	}
}

func TestRequestIsOneWrite(t *testing.T) {
	for length, want := range map[int]int{0: 1, 1: 1, maxBody: 1} {
		p := &played{answers: last(whole[0])}
		r, _ := http.NewRequest("POST", "http://a.example", bytes.NewReader(make([]byte, length)))
		if o := ask(ours(bounds(p.dial)), r); o.Body != "hello" || len(p.sent) != want {
			t.Errorf("a body of %d bytes: %d writes, %+v; want %d", length, len(p.sent), o, want)
		}
	}
}

// told is a body that says whether it has been closed.
type told struct {
	io.Reader
	closed bool
}

func (b *told) Close() error {
	b.closed = true
	return nil
}

func TestBodyIsClosedAndNothingIsSentOfOneThatBreaks(t *testing.T) {
	broken := errors.New("broken")
	for name, c := range map[string]struct {
		body io.Reader
		want error
	}{
		"too short": {strings.NewReader("abc"), nil}, "too long": {strings.NewReader("abcdef"), nil},
		"broken":            {io.MultiReader(strings.NewReader("abc"), failing{broken}), broken},
		"broken at its end": {io.MultiReader(strings.NewReader("abcde"), failing{broken}), broken},
	} {
		p, body := &played{answers: last(whole[0])}, &told{Reader: c.body}
		r, _ := http.NewRequest("POST", "http://a.example", body)
		r.ContentLength = 5
		_, err := ours(bounds(p.dial)).RoundTrip(r)
		if err == nil || c.want != nil && err != c.want || len(p.sent) > 0 || !body.closed {
			t.Errorf("%s: %v, sent %q, closed %t", name, err, p.sent, body.closed)
		}
	}
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

func TestWhoeverTracesIsTold(t *testing.T) {
	p := &played{answers: []reply{{bytes: "HTTP/1.1 103 E\r\nLink: a\r\n\r\n" + whole[0]}, {bytes: whole[0]}}}
	transport := ours(bounds(p.dial))
	for i, want := range []string{"conn false, wrote, header, first byte, ", "conn true, wrote, header, first byte, "} {
		var seen string
		r := get("GET")
		r = r.WithContext(httptrace.WithClientTrace(r.Context(), &httptrace.ClientTrace{
			GotConn: func(c httptrace.GotConnInfo) {
				seen += map[bool]string{true: "conn true, ", false: "conn false, "}[c.Reused]
			},
			WroteHeaders:         func() { seen += "wrote, " },
			WroteRequest:         func(httptrace.WroteRequestInfo) { seen += "header, " },
			GotFirstResponseByte: func() { seen += "first byte, " },
		}))
		if o := ask(transport, r); o.Body != "hello" || seen != want {
			t.Errorf("request %d: %q, %+v, want %q", i+1, seen, o, want)
		}
	}
	r := get("GET")
	fields := 0
	r = r.WithContext(httptrace.WithClientTrace(r.Context(), &httptrace.ClientTrace{
		WroteHeaderField: func(string, []string) { fields++ },
	}))
	if p.answers = []reply{{bytes: whole[0]}}; ask(transport, r).Body != "hello" || fields == 0 {
		t.Errorf("%d fields were told", fields)
	}
}
