package plainhttp

import (
	"bufio"
	"bytes"
	"context"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/http/httpguts"
)

// plain are messages that are taken.
var plain = []string{
	"GET / HTTP/1.1\r\nHost: h\r\n\r\n",
	"GET /.well-known/openid-configuration HTTP/1.1\r\nHost: id.example.com:80\r\nUser-Agent: curl/8.5.0\r\n\r\n",
	"GET /a/b%2Fc?x=1&y=%20&x=2#z HTTP/1.1\r\nhost: [::1]:80\r\ncookie: a=b\r\ncookie: c=d\r\n\r\n",
	"HEAD /?q HTTP/1.1\r\nHost:h\r\nEmpty:\r\nSpaces:    a b    \r\n\r\n",
	"POST /oauth/token HTTP/1.1\r\nHost: h\r\nContent-Type: text/plain\r\nContent-Length: 3\r\n\r\na=b",
	"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\n\r\nGET /next HTTP/1.1\r\nHost: h\r\n\r\n",
	"PUT / HTTP/1.1\r\nHost: h\r\nCONTENT-LENGTH:12345678901\r\n\r\n",
	"PATCH /a;b,c=d@e:f HTTP/1.1\r\nHost: h\r\nX-A: 1\r\nx-a: 2\r\nX-a: 3\r\n\r\n",
	"DELETE /* HTTP/1.1\r\nHost: 192.0.2.1\r\nIf-None-Match: \"a\", W/\"b\"\r\n\r\n",
	"GET / HTTP/1.1\r\nHost: h\r\nConnection: keep-alive\r\n\r\n",
	"GET / HTTP/1.1\r\nconnection: Keep-Alive\r\nHost: h\r\nConnection: keep-alive\r\n\r\n",
	"OPTIONS /? HTTP/1.1\r\nHost: h\r\nOrigin: https://a.example\r\nAccess-Control-Request-Method: GET\r\n\r\n",
}

// otherwise are messages that are left to net/http, by what is not plain in them.
var otherwise = map[string]string{
	"nothing":                     "",
	"no end":                      "GET / HTTP/1.1\r\nHost: h\r\n",
	"end by bare LF":              "GET / HTTP/1.1\nHost: h\n\n",
	"last line by bare LF":        "GET / HTTP/1.1\r\nHost: h\n\r\n",
	"LF CR LF":                    "GET / HTTP/1.1\r\nHost: h\n\r\n\r\n",
	"bare LF between fields":      "GET / HTTP/1.1\r\nHost: h\nA: b\r\n\r\n",
	"bare CR in a value":          "GET / HTTP/1.1\r\nHost: h\r\nA: b\rc\r\n\r\n",
	"bare CR in a name":           "GET / HTTP/1.1\r\nHost: h\r\nA\r: b\r\n\r\n",
	"CR CR LF":                    "GET / HTTP/1.1\r\nHost: h\r\r\n\r\n",
	"line end first":              "\r\nGET / HTTP/1.1\r\nHost: h\r\n\r\n",
	"space first":                 " GET / HTTP/1.1\r\nHost: h\r\n\r\n",
	"two spaces":                  "GET  / HTTP/1.1\r\nHost: h\r\n\r\n",
	"two spaces before version":   "GET /  HTTP/1.1\r\nHost: h\r\n\r\n",
	"tab for space":               "GET\t/ HTTP/1.1\r\nHost: h\r\n\r\n",
	"space after version":         "GET / HTTP/1.1 \r\nHost: h\r\n\r\n",
	"NUL in target":               "GET /\x00 HTTP/1.1\r\nHost: h\r\n\r\n",
	"byte above ASCII in target":  "GET /\xff HTTP/1.1\r\nHost: h\r\n\r\n",
	"bad escape":                  "GET /%zz HTTP/1.1\r\nHost: h\r\n\r\n",
	"HTTP/0.9":                    "GET /\r\n\r\n",
	"HTTP/1.0":                    "GET / HTTP/1.0\r\nHost: h\r\n\r\n",
	"HTTP/1.2":                    "GET / HTTP/1.2\r\nHost: h\r\n\r\n",
	"HTTP/2.0":                    "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
	"lower case version":          "GET / http/1.1\r\nHost: h\r\n\r\n",
	"lower case method":           "get / HTTP/1.1\r\nHost: h\r\n\r\n",
	"rare method":                 "TRACE / HTTP/1.1\r\nHost: h\r\n\r\n",
	"CONNECT":                     "CONNECT h:80 HTTP/1.1\r\nHost: h:80\r\n\r\n",
	"asterisk":                    "OPTIONS * HTTP/1.1\r\nHost: h\r\n\r\n",
	"absolute form":               "GET http://other/ HTTP/1.1\r\nHost: h\r\n\r\n",
	"two slashes":                 "GET //other/ HTTP/1.1\r\nHost: h\r\n\r\n",
	"no slash":                    "GET a HTTP/1.1\r\nHost: h\r\n\r\n",
	"no target":                   "GET HTTP/1.1\r\nHost: h\r\n\r\n",
	"no Host":                     "GET / HTTP/1.1\r\nA: b\r\n\r\n",
	"no fields":                   "GET / HTTP/1.1\r\n\r\n",
	"empty Host":                  "GET / HTTP/1.1\r\nHost: \r\n\r\n",
	"two Hosts":                   "GET / HTTP/1.1\r\nHost: h\r\nHost: h\r\n\r\n",
	"two Hosts, other case":       "GET / HTTP/1.1\r\nHost: h\r\nhOST: i\r\n\r\n",
	"user in Host":                "GET / HTTP/1.1\r\nHost: a@h\r\n\r\n",
	"path in Host":                "GET / HTTP/1.1\r\nHost: h/a\r\n\r\n",
	"space in Host":               "GET / HTTP/1.1\r\nHost: h i\r\n\r\n",
	"list in Host":                "GET / HTTP/1.1\r\nHost: h,i\r\n\r\n",
	"space before colon":          "GET / HTTP/1.1\r\nHost: h\r\nContent-Length : 1\r\n\r\n1",
	"tab before colon":            "GET / HTTP/1.1\r\nHost: h\r\nContent-Length\t: 1\r\n\r\n1",
	"folded line":                 "GET / HTTP/1.1\r\nHost: h\r\nA: b\r\n c\r\n\r\n",
	"folded by tab":               "GET / HTTP/1.1\r\nHost: h\r\nA: b\r\n\tc\r\n\r\n",
	"folded first line":           "GET / HTTP/1.1\r\n Host: h\r\n\r\n",
	"no colon":                    "GET / HTTP/1.1\r\nHost: h\r\nA\r\n\r\n",
	"no name":                     "GET / HTTP/1.1\r\nHost: h\r\n: b\r\n\r\n",
	"underscore in a name":        "GET / HTTP/1.1\r\nHost: h\r\nContent_Length: 1\r\n\r\n",
	"NUL in a name":               "GET / HTTP/1.1\r\nHost: h\r\nA\x00: b\r\n\r\n",
	"byte above ASCII in a name":  "GET / HTTP/1.1\r\nHost: h\r\nA\xef: b\r\n\r\n",
	"NUL in a value":              "GET / HTTP/1.1\r\nHost: h\r\nA: b\x00\r\n\r\n",
	"DEL in a value":              "GET / HTTP/1.1\r\nHost: h\r\nA: b\x7f\r\n\r\n",
	"tab in a value":              "GET / HTTP/1.1\r\nHost: h\r\nA: \tb\r\n\r\n",
	"byte above ASCII in a value": "GET / HTTP/1.1\r\nHost: h\r\nA: \xa0b\r\n\r\n",
	"Content-Length with +":       "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: +1\r\n\r\n1",
	"Content-Length with -":       "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: -1\r\n\r\n1",
	"Content-Length with 0 first": "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 01\r\n\r\n1",
	"Content-Length in hex":       "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 0x1\r\n\r\n1",
	"Content-Length with comma":   "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1,1\r\n\r\n1",
	"Content-Length with point":   "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1.0\r\n\r\n1",
	"Content-Length with space":   "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1 1\r\n\r\n1",
	"Content-Length with _":       "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1_1\r\n\r\n1",
	"Content-Length with nothing": "POST / HTTP/1.1\r\nHost: h\r\nContent-Length:\r\n\r\n1",
	"Content-Length too large":    "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 9223372036854775808\r\n\r\n1",
	"two Content-Lengths":         "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\n1",
	"two that differ":             "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\nContent-length: 2\r\n\r\n12",
	"0 and another":               "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\nContent-length: 2\r\n\r\n12",
	"Transfer-Encoding":           "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
	"empty Transfer-Encoding":     "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding:\r\n\r\n",
	"CL.TE":                       "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 4\r\nTransfer-Encoding: a\r\n\r\n0\r\n",
	"TE.CL":                       "POST / HTTP/1.1\r\nHost: h\r\nTRANSFER-ENCODING: x\r\nContent-Length: 4\r\n\r\n0\r\n",
	"Expect":                      "POST / HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 1\r\n\r\n1",
	"Upgrade":                     "GET / HTTP/1.1\r\nHost: h\r\nUpgrade: websocket\r\n\r\n",
	"TE":                          "GET / HTTP/1.1\r\nHost: h\r\nTE: trailers\r\n\r\n",
	"Trailer":                     "GET / HTTP/1.1\r\nHost: h\r\nTrailer: a\r\n\r\n",
	"Connection: close":           "GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n",
	"Connection with a name":      "GET / HTTP/1.1\r\nHost: h\r\nConnection: keep-alive, a\r\n\r\n",
	"Connection with nothing":     "GET / HTTP/1.1\r\nHost: h\r\nConnection:\r\n\r\n",
	"two Connections":             "GET / HTTP/1.1\r\nHost: h\r\nConnection: keep-alive\r\nConnection: close\r\n\r\n",
	"Pragma":                      "GET / HTTP/1.1\r\nHost: h\r\nPragma: no-cache\r\n\r\n",
	"too long":                    "GET /" + strings.Repeat("a", mostRead) + " HTTP/1.1\r\nHost: h",
}

func TestPlainMessagesAreTakenAndReadAsNetHTTPReadsThem(t *testing.T) {
	for _, text := range plain {
		if n := holdAgainstNetHTTP(t, []byte(text)); n == 0 {
			t.Errorf("not taken: %.200q", text)
		}
	}
}

func TestMessagesThatAreNotPlainAreLeftAlone(t *testing.T) {
	for why, text := range otherwise {
		var h head
		if n := h.parse([]byte(text)); n != 0 {
			t.Errorf("%s: %d bytes are taken of %.200q", why, n, text)
		}
	}
}

// A message that is taken is the same request to net/http, with the same bytes after it, and nothing that net/http
// refuses is taken.
func FuzzWhatIsTakenIsTheSameToNetHTTP(f *testing.F) {
	for _, text := range plain {
		f.Add([]byte(text))
	}
	for _, text := range otherwise {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, b []byte) { holdAgainstNetHTTP(t, b) })
}

// holdAgainstNetHTTP returns how long the head is that is taken, 0 if none is.
func holdAgainstNetHTTP(t testing.TB, b []byte) int {
	var h head
	n := h.parse(b)
	if n == 0 {
		return 0
	}
	read := bufio.NewReaderSize(bytes.NewReader(b), len(b)+16)
	want, err := http.ReadRequest(read)
	if err != nil {
		t.Fatalf("net/http refuses it: %v: %q", err, b)
	}
	for name, values := range want.Header { // http.Server looks at these when they have been read
		for _, v := range values {
			if !httpguts.ValidHeaderFieldName(name) || !httpguts.ValidHeaderFieldValue(v) {
				t.Fatalf("http.Server refuses %q: %q", name, v)
			}
		}
	}
	if !httpguts.ValidHostHeader(want.Host) || want.Host == "" {
		t.Fatalf("http.Server refuses the host %q", want.Host)
	}
	// The body is read by its length, so it is the same, and what follows it is, if the same is left.
	if left, _ := read.Peek(read.Buffered()); !bytes.Equal(left, b[n:]) {
		t.Fatalf("%q is left of %q, with net/http %q", b[n:], b, left)
	}
	got := h.request(context.Background())
	if (want.Body == http.NoBody) != (got.ContentLength == 0) {
		t.Fatalf("%q has a body to net/http, or none, against its length", b)
	}
	got.Body, want.Body = nil, nil
	if !same(got, want) {
		t.Fatalf("%q is\n%+v\nand with net/http\n%+v", b, got, want)
	}
	return n
}

// same is reflect.DeepEqual, which takes longer than all else here, for what most messages differ in.
func same(got, want *http.Request) bool {
	if *got.URL != *want.URL || !maps.EqualFunc(got.Header, want.Header, slices.Equal) {
		return false
	}
	g, w := *got, *want.WithContext(context.Background())
	g.URL, w.URL, g.Header, w.Header = nil, nil, nil, nil
	if g.Method == w.Method && g.RequestURI == w.RequestURI && g.Host == w.Host && g.ContentLength == w.ContentLength {
		g.Method, w.Method, g.RequestURI, w.RequestURI, g.Host, w.Host = "", "", "", "", "", ""
		g.ContentLength, w.ContentLength = 0, 0
	}
	return reflect.DeepEqual(g, w)
}
