package upstream

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"log"
	"math/rand/v2"
	"net/http"
	"os"
	"strconv"
	"strings"
	"testing"
)

// TestMain silences what net/http logs of answers that nobody asked for.
func TestMain(m *testing.M) {
	log.SetOutput(io.Discard)
	os.Exit(m.Run())
}

// whole are answers that are played as they are, cut at each byte, and in pieces of each size.
var whole = []string{
	"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Type: text/plain\r\n\r\nhello",
	"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n",
	"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nX-A: 1\r\nx-a: 2\r\nSet-Cookie: a=b\r\nset-cookie: c=d\r\n\r\nhello",
	"HTTP/1.1 404 Not Found\r\nContent-Length: 2\r\nConnection: close\r\n\r\nno",
	"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: keep-alive\r\n\r\nno",
	"HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nno",
	"HTTP/1.0 200 OK\r\nContent-Length: 2\r\nConnection: keep-alive\r\n\r\nno",
	"HTTP/1.1 200 OK\r\n\r\nto the end",
	"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
	"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X-Sum\r\n\r\n" +
		"5;a=b\r\nhello\r\n0\r\nX-Sum: 1\r\nX-More: 2\r\n\r\n",
	"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n1\r\nh\r\n0\r\n\r\n",
	"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n" +
		"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx",
	"HTTP/1.1 204 No Content\r\nX-A: b\r\n\r\n",
	"HTTP/1.1 304 Not Modified\r\nEtag: \"a\"\r\nContent-Length: 10\r\n\r\n",
	"HTTP/1.1 200 OK\r\nPragma: no-cache\r\nContent-Length: 1\r\n\r\nx",
	"HTTP/1.1 200\r\nContent-Length: 1\r\n\r\nx",
	"HTTP/1.1 200 OK\nContent-Length: 1\n\nx",
	"HTTP/1.1 200 OK\r\nX-Folded: a\r\n b\r\nContent-Length: 1\r\n\r\nx",
	"HTTP/1.1 101 Switching Protocols\r\nContent-Length: 1\r\n\r\n",
}

func one(method string) func() []*http.Request {
	return func() []*http.Request { return []*http.Request{get(method)} }
}

func TestAnswerIsReadAsNetHTTPReadsItHoweverItComes(t *testing.T) {
	for _, answer := range append(whole, zipped("hello, hello, hello")) {
		for _, method := range []string{"GET", "HEAD", "POST"} {
			for piece := range 4 {
				compared(t, one(method), last(answer), piece)
			}
		}
		for i := range answer {
			compared(t, one("GET"), last(answer[:i]), 0)
			compared(t, one("GET"), last(answer[:i]+"\x00"+answer[i+1:]), 0)
			compared(t, one("GET"), last(answer[:i]+answer[i+1:]), 0)
		}
		if t.Failed() {
			return
		}
	}
}

// zipped is an answer that is compressed.
func zipped(text string) string {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	io.WriteString(w, text)
	w.Close()
	return fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: %d\r\n\r\n%s", b.Len(), b.String())
}

// hostile makes an answer that may be right, doubtful or broken.
func hostile(r *rand.Rand) string {
	pick := func(from ...string) string { return from[r.IntN(len(from))] }
	var b strings.Builder
	for range r.IntN(8) - 5 {
		b.WriteString(pick("HTTP/1.1 100 Continue", "HTTP/1.1 103 Early Hints", "HTTP/1.1 199 X") + "\r\n" +
			pick("", "Link: </a>; rel=preload\r\n", "X: "+strings.Repeat("x", r.IntN(900))+"\r\n") + "\r\n")
	}
	b.WriteString(pick("HTTP/1.1 200 OK", "HTTP/1.1 200 OK", "HTTP/1.1 200 OK", "HTTP/1.1 404 Not Found", "HTTP/1.1 204 X",
		"HTTP/1.1 304 Not Modified", "HTTP/1.0 200 OK", "HTTP/1.1 200", "HTTP/1.1 599 \x80", "HTTP/2.0 200 OK",
		"HTTP/1.1 099 X",
		"HTTP/1.1  200 OK", "HTTP/1.1 2000 OK", "HTTP/1.1 +20 OK", "HTTP/1.1 20 OK", "http/1.1 200 OK", "HTTP/1.1 999 ",
		"HTTP/1.1",
		"HTTP/1.10 200 OK", "HTTP/1.1 200 O\tK", "HTTP/1.1\t200 OK", "HTTP/1.1 101 S", "HTTP/1.1 500 E", " HTTP/1.1 200 OK"))
	plain := r.IntN(3) > 0
	eol := func() string {
		if plain || r.IntN(5) > 0 {
			return "\r\n"
		}
		return pick("\n", "\r\r\n")
	}
	b.WriteString(eol())
	body := strings.Repeat("0123456789", r.IntN(3)) + pick("", "a", "\r\n", "HTTP/1.1 200 OK\r\n")
	framing := r.IntN(10)
	fields := make([]string, 0, 8)
	for range r.IntN(5) {
		fields = append(fields, pick("Content-Type: text/plain", "X-A: 1", "x-a:2", "X-A:\t3 \t",
			"Date: Sat, 01 Jan 2000 00:00:00 GMT",
			"Pragma: no-cache", "Cache-Control: no-store", "Connection: close", "Connection: keep-alive", "Connection: x, Close",
			"connection: upgrade", "Upgrade: h2c", "Trailer: X-T", "Trailer: Content-Length", "Set-Cookie: a=b; c",
			"set-cookie: d",
			"Content-Encoding: gzip", "Bad Name: x", "Bad\x00: x", ": x", "NoColon", " folded", "X-B: a\x01b", "X-\xc3\xa4: b",
			"X-C: \xc3\xa4\xff", "X-D : y", "X-Long: "+strings.Repeat("y", r.IntN(3000)), "Proxy-Connection: keep-alive",
			"X:", "a'b: c",
			"Keep-Alive: timeout=5", "X_Y: z", "X-A: 1\r\n\t2"))
	}
	switch framing {
	case 0:
	case 1, 2, 3:
		chunks := ""
		for part := body; part != ""; {
			n := 1 + r.IntN(len(part))
			chunks += pick("", "0", "00000000000000") + strconv.FormatInt(int64(n), 16) +
				pick("", "", "", ";a=b", " ", "; \"", strings.Repeat(";x", r.IntN(3000))) + pick("\r\n", "\r\n", "\r\n", "\r\n",
				"\n") + part[:n] +
				pick("\r\n", "\r\n", "\r\n", "\r\n", "\r\n", "\n", "")
			part = part[n:]
		}
		body = chunks + pick("0\r\n", "0\r\n", "0\r\n", "0;x\r\n", "00\r\n", "", "-0\r\n", "g\r\n") + pick("\r\n", "\r\n",
			"X-T: a\r\n\r\n",
			"X-T: a\r\nX-U: b\r\n\r\n", "Content-Length: 3\r\n\r\n", "\n", "X-T: a\r\n", " bad\r\n\r\n", "")
		fields = append(fields, pick("Transfer-Encoding: chunked", "Transfer-Encoding: chunked", "transfer-encoding: Chunked",
			"Transfer-Encoding: gzip, chunked", "Transfer-Encoding: identity",
			"Transfer-Encoding:chunked\r\nTransfer-Encoding: chunked",
			"Transfer-Encoding: chunked\r\nContent-Length: 5", "Transfer-Encoding: \x0bchunked"))
	case 4:
		fields = append(fields, pick("Content-Length: -1", "Content-Length: +5", "Content-Length: 5 5",
			"Content-Length: 5, 5",
			"Content-Length: 0x5", "Content-Length:", "Content-Length: 99999999999999999999",
			"Content-Length: 9223372036854775807",
			"Content-Length: 9223372036854775808", "Content-Length: 5\r\nContent-Length: 6",
			"Content-Length: 5\r\ncontent-length:  5",
			"Content-Length: \u0665", "Content-Length: 1e1", "Content-Length: 0005", "Content-Length: 1_0"))
	default:
		fields = append(fields, fmt.Sprintf("Content-Length: %d", max(0, len(body)+[]int{0, 0, 0, 0, 0, 1, -1}[r.IntN(7)])))
	}
	r.Shuffle(len(fields), func(i, j int) { fields[i], fields[j] = fields[j], fields[i] })
	for _, f := range fields {
		b.WriteString(f + eol())
	}
	b.WriteString(eol() + body)
	text := []byte(b.String())
	switch n := r.IntN(len(text)); r.IntN(8) {
	case 0:
		text = text[:n]
	case 1:
		text[n] = byte(r.IntN(256))
	case 2:
		text = append(text, pick("x", "\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\npoison")...)
	}
	return string(text)
}

// answersOf returns how many answers are played: some by day, UPSTREAM_ANSWERS by night.
func answersOf(t *testing.T, byDay int) int {
	text := os.Getenv("UPSTREAM_ANSWERS")
	if text == "" {
		return byDay
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("UPSTREAM_ANSWERS: %v", err)
	}
	return n
}

func TestHostileAnswersComeToWhatNetHTTPMakesOfThem(t *testing.T) {
	seed := rand.Uint64()
	random, failed := rand.New(rand.NewPCG(seed, 0)), 0
	for range answersOf(t, 20_000) {
		method := []string{"GET", "GET", "GET", "HEAD", "POST"}[random.IntN(5)]
		compared(t, one(method), last(hostile(random)), random.IntN(2)*random.IntN(100))
		if t.Failed() {
			failed++
		}
		if failed > 3 {
			t.Fatalf("seed %d", seed)
		}
	}
}

// clean are answers after which it is sure whether their connection is used again.
func clean(r *rand.Rand) reply {
	body := strings.Repeat("x", r.IntN(3)*r.IntN(3000))
	connection := []string{"", "", "", "Connection: keep-alive\r\n", "Connection: close\r\n"}[r.IntN(5)]
	status := []string{"HTTP/1.1 200 OK", "HTTP/1.1 200 OK", "HTTP/1.1 500 E", "HTTP/1.0 200 OK",
		"HTTP/1.1 103 E\r\n\r\nHTTP/1.1 200 OK"}[r.IntN(5)]
	switch r.IntN(7) {
	case 6:
		return reply{bytes: "HTTP/1.1 101 Switching Protocols\r\n\r\n"}
	case 0:
		return reply{bytes: status + "\r\n" + connection + "\r\n" + body, end: true}
	case 1:
		return reply{bytes: "HTTP/1.1 204 No Content\r\n" + connection + "\r\n"}
	case 2:
		if body == "" || strings.Contains(status, "HTTP/1.0") {
			body, status = "x", "HTTP/1.1 200 OK"
		}
		return reply{bytes: fmt.Sprintf("%s\r\nTransfer-Encoding: chunked\r\n%s\r\n%x\r\n%s\r\n0\r\n\r\n", status,
			connection, len(body), body)}
	default:
		return reply{bytes: fmt.Sprintf("%s\r\n%sContent-Length: %d\r\n\r\n%s", status, connection, len(body), body),
			end: r.IntN(4) == 0}
	}
}

func TestConnectionsAreUsedAgainWhereNetHTTPUsesThem(t *testing.T) {
	seed, reused := rand.Uint64(), 0
	random := rand.New(rand.NewPCG(seed, 0))
	n := answersOf(t, 5_000) / 4
	for range n {
		answers := []reply{clean(random), clean(random), clean(random), clean(random)}
		reused += 4 - compared(t, func() []*http.Request {
			return []*http.Request{get("GET"), get("GET"), get("OPTIONS"), get("GET")}
		}, answers, random.IntN(3)*random.IntN(40))
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
	if reused < n/2 {
		t.Errorf("connections were used again %d times in %d rounds, too few to show anything", reused, n)
	}
}
