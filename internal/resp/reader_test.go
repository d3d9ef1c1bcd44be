package resp

import (
	"errors"
	"io"
	"runtime"
	"slices"
	"strings"
	"testing"
)

func read(text string) (Value, error) { return newReader(strings.NewReader(text)).value(0) }

func TestReaderReadsWhatServersAnswer(t *testing.T) {
	for text, want := range map[string]Value{
		"+OK\r\n":                   {Kind: Text, Text: "OK"},
		"-ERR no\r\n":               {Kind: Failure, Text: "ERR no"},
		":-42\r\n":                  {Kind: Number, Int: -42},
		"$3\r\na\r\n\r\n":           {Kind: Text, Text: "a\r\n"},
		"$0\r\n\r\n":                {Kind: Text},
		"$-1\r\n":                   {},
		"*-1\r\n":                   {},
		"_\r\n":                     {},
		"#t\r\n":                    {Kind: Number, Int: 1},
		"#f\r\n":                    {Kind: Number},
		",1.5\r\n":                  {Kind: Text, Text: "1.5"},
		"(12345678901234567890\r\n": {Kind: Text, Text: "12345678901234567890"},
		"!5\r\nERR x\r\n":           {Kind: Failure, Text: "ERR x"},
		"=7\r\ntxt:abc\r\n":         {Kind: Text, Text: "abc"},
		"*2\r\n:1\r\n*1\r\n$1\r\nx\r\n": {Kind: List, List: []Value{{Kind: Number, Int: 1},
			{Kind: List, List: []Value{{Kind: Text, Text: "x"}}}}},
		"%1\r\n+proto\r\n:3\r\n": {Kind: List, List: []Value{{Kind: Text, Text: "proto"},
			{Kind: Number, Int: 3}}},
		"~1\r\n:1\r\n":                           {Kind: List, List: []Value{{Kind: Number, Int: 1}}},
		"-" + strings.Repeat("x", 5000) + "\r\n": {Kind: Failure, Text: strings.Repeat("x", errorMost)},
	} {
		got, err := read(text)
		if err != nil || !equal(got, want) {
			t.Errorf("%.40q is %+v, %v, want %+v", text, got, err, want)
		}
	}
}

func equal(a, b Value) bool {
	return a.Kind == b.Kind && a.Text == b.Text && a.Int == b.Int && slices.EqualFunc(a.List, b.List, equal)
}

func TestReaderFailsOnWhatIsNoAnswer(t *testing.T) {
	for text, want := range map[string]error{
		"":                               io.EOF,
		"+OK":                            io.EOF,
		"$5\r\nab":                       io.ErrUnexpectedEOF,
		"*2\r\n:1\r\n":                   io.EOF,
		"\r\n":                           errProtocol,
		"+\n":                            errProtocol,
		"HTTP/1.1 400 Bad Request\r\n":   errProtocol,
		"220 mail.example.com ESMTP\r\n": errProtocol,
		"*-5\r\n":                        errProtocol,
		"$-2\r\n":                        errProtocol,
		"$?\r\n":                         errProtocol,
		"$+1\r\nx\r\n":                   errProtocol,
		":1x\r\n":                        errProtocol,
		":99999999999999999999\r\n":      errProtocol,
		"#x\r\n":                         errProtocol,
		"_x\r\n":                         errProtocol,
		"$1\r\nabc":                      errProtocol,
		"=1\r\nx\r\n":                    errProtocol,
		">2\r\n+invalidate\r\n_\r\n":     errProtocol,
		"|1\r\n+ttl\r\n:1\r\n:2\r\n":     errProtocol,
		"$99999999999999\r\n":            errTooLarge,
		"*1000000000\r\n":                errTooLarge,
		"%1000000000\r\n":                errTooLarge,
		"*99999999999999999999\r\n":      errTooLarge,
		strings.Repeat("*1\r\n", 100):    errTooLarge,
		"+" + strings.Repeat("x", 1<<20): errTooLarge,
	} {
		if v, err := read(text); !errors.Is(err, want) {
			t.Errorf("%.40q is %+v, %v, want %v", text, v, err, want)
		}
	}
}

// A length that is announced takes no memory before as much has come.
func TestLengthAloneTakesNoMemory(t *testing.T) {
	for _, text := range []string{"$4194000\r\n", "*65000\r\n", "%32000\r\n", strings.Repeat("*60000\r\n", 7)} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if _, err := read(text); err == nil {
			t.Errorf("%.20q: no error", text)
		}
		runtime.ReadMemStats(&after)
		if n := after.TotalAlloc - before.TotalAlloc; n > 128<<10 {
			t.Errorf("%.20q takes %d bytes", text, n)
		}
	}
}

// FuzzReader holds that no bytes have more made of them than they are, and that what is read is the same
// however it arrives.
func FuzzReader(f *testing.F) {
	for _, text := range []string{
		"*3\r\n:1\r\n:59\r\n:60000000\r\n$1\r\na\r\n", "%7\r\n$6\r\nserver\r\n$5\r\nredis\r\n",
		"-NOSCRIPT No matching script.\r\n", "*1000000000\r\n",
		"$99999999999999\r\n", "*-5\r\n", "$-1\r\n", "=7\r\ntxt:abc\r\n!5\r\nERR x\r\n", ">2\r\n+a\r\n_\r\n",
		"*2\r\n*2\r\n*2\r\n*2\r\n*2\r\n*2\r\n*2\r\n*2\r\n*2\r\n:1\r\n",
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		whole, slow := newReader(strings.NewReader(string(text))), newReader(dripping{strings.NewReader(string(text))})
		for {
			v, err := whole.value(0)
			w, other := slow.value(0)
			if !equal(v, w) || (err == nil) != (other == nil) {
				t.Fatalf("at once %+v, %v, and byte by byte %+v, %v", v, err, w, other)
			}
			if err != nil {
				return
			}
			if n := parts(v); n > len(text) {
				t.Fatalf("%d bytes have %d parts", len(text), n)
			}
		}
	})
}

// parts counts a value and what it holds, bytes too.
func parts(v Value) (n int) {
	for _, part := range v.List {
		n += parts(part)
	}
	return n + 1 + len(v.Text)
}

// dripping returns a byte at a time.
type dripping struct{ from io.Reader }

func (d dripping) Read(to []byte) (int, error) { return d.from.Read(to[:min(1, len(to))]) }
