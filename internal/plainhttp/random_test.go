package plainhttp

import (
	"flag"
	"math/rand/v2"
	"testing"
)

var messages = flag.Int("messages", 100_000, "how many random messages are held against net/http")

// pieces make up random messages: whole lines and parts of them, in order and out of it.
var pieces = []string{
	"GET", "POST", "HEAD", "get", " ", "  ", "\t", "/", "//", "/a", "*", "?x=1", "#", "%2F", "%", "http://a/",
	" HTTP/1.1", " HTTP/1.0", " http/1.1", "\r\n", "\n", "\r",
	"\r\n\r\n", "\r\n ", "\x00", "\x0b", "\x7f", "\x80", "\xff", ":", " :",
	": ", "Host", "Host: h", "host: a:1", "Host: [::1]", "\r\nHost: h\r\n", "Content-Length", "Content-Length: 3",
	"content-length: 0", "Content-Length: +3", "Content-Length: 3, 3", "Content-Length: 03", "Content-Length : 3",
	"Transfer-Encoding: chunked", "Transfer-Encoding", "transfer-encoding: \x0bchunked", "Transfer-Encoding\x00: chunked",
	"Connection: close", "Connection: keep-alive", "keep-alive", "Keep-Alive", "Expect: 100-continue", "Upgrade: h2c",
	"TE: trailers", "Trailer: A", "Pragma: no-cache",
	"Cache-Control: no-store", "X-A: 1", "x-a: 2", "X_A: 3", "Cookie: a=b; c=d", "0\r\n\r\n", "3\r\nabc\r\n", "abc", "\"",
	",", "_", "-", "GET / HTTP/1.1\r\nHost: h\r\n", "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\nabc",
}

// A coverage-guided fuzzer spends its time on coverage. These messages begin as plain ones and are cut, doubled and
// mixed, so that many of them are still taken.
func TestRandomMessagesAreTheSameToNetHTTP(t *testing.T) {
	seed := rand.Uint64()
	random, taken := rand.New(rand.NewPCG(seed, 1)), 0
	defer func() {
		if t.Failed() {
			t.Logf("the seed is %d", seed)
		}
	}()
	var b []byte
	for range *messages {
		b = append(b[:0], plain[random.IntN(len(plain))]...)
		for range random.IntN(4) {
			b = mutate(random, b)
		}
		if holdAgainstNetHTTP(t, b) > 0 {
			taken++
		}
	}
	t.Logf("%d of %d messages were taken", taken, *messages)
	if taken < *messages/10 {
		t.Errorf("only %d of %d messages were taken", taken, *messages)
	}
}

func mutate(random *rand.Rand, b []byte) []byte {
	at := 0
	if len(b) > 0 {
		at = random.IntN(len(b))
	}
	end := min(len(b), at+random.IntN(8))
	switch random.IntN(5) {
	case 0: // a piece more
		return insert(b, at, pieces[random.IntN(len(pieces))])
	case 1: // a piece in place of some bytes
		return insert(append(b[:at], b[end:]...), at, pieces[random.IntN(len(pieces))])
	case 2: // some bytes less
		return append(b[:at], b[end:]...)
	case 3: // one byte another
		if at < len(b) {
			b[at] = byte(random.Uint32())
		}
		return b
	default: // a line of another message, where a line begins
		for at > 0 && b[at-1] != '\n' {
			at--
		}
		return insert(b, at, pieces[random.IntN(len(pieces))]+"\r\n")
	}
}

func insert(b []byte, at int, piece string) []byte {
	tail := string(b[at:])
	return append(append(b[:at], piece...), tail...)
}
