package rawjson

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestCheck(t *testing.T) {
	many := func(n int) string {
		var names []string
		for i := range n {
			names = append(names, fmt.Sprintf(`"%d":0`, i))
		}
		return "{" + strings.Join(names, ",") + "}"
	}
	for text, want := range map[string]error{
		``: ErrSyntax, ` `: ErrSyntax, `{`: ErrSyntax, `1 2`: ErrSyntax, "\"\xff\"": ErrSyntax,
		` [ 1 , {"a" : [ ] } ] `: nil, `[[[[]]]]`: ErrDepth, `[[[1]]]`: nil, `{"a":{"b":{"c":[]}}}`: ErrDepth,
		`{"a":1,"b":2,"\u0061":3}`: ErrTwice, `[{"a":{"b":1 , "b":2}}]`: ErrTwice, `{"a":{"a":{"a":1}}}`: nil,
		many(20): nil, many(21): ErrMembers, strings.Replace(many(20), `"19"`, `"3"`, 1): ErrTwice, strings.Replace(many(20), `"19"`, `"18"`, 1): ErrTwice,
	} {
		if err := Check([]byte(text), Limits{Depth: 3, Once: true, Members: 20}); !errors.Is(err, want) {
			t.Errorf("Check(%.40s) = %v, want %v", text, err, want)
		}
		if errors.Is(want, ErrTwice) || errors.Is(want, ErrMembers) {
			want = nil
		}
		if err := Check([]byte(text), Limits{Depth: 3}); !errors.Is(err, want) {
			t.Errorf("Check(%.40s) of the depth alone = %v, want %v", text, err, want)
		}
	}
}

// again writes a value from its parts, as they were read.
func again(out *bytes.Buffer, v []byte) {
	sep := ""
	switch v[0] {
	case '{':
		out.WriteByte('{')
		for name, inner := range Members(v) {
			quoted, _ := json.Marshal(string(name))
			fmt.Fprintf(out, "%s%s:", sep, quoted)
			again(out, inner)
			sep = ","
		}
		out.WriteByte('}')
	case '[':
		out.WriteByte('[')
		for inner := range Elements(v) {
			out.WriteString(sep)
			again(out, inner)
			sep = ","
		}
		out.WriteByte(']')
	case '"':
		quoted, _ := json.Marshal(string(Unquote(v)))
		out.Write(quoted)
	default:
		out.Write(v)
	}
}

// FuzzRead reads whatever Check lets through as encoding/json does.
func FuzzRead(f *testing.F) {
	for _, seed := range []string{` {"a" : [1.50e1, true,null , "x\"]\\"] , "\u00e9\n":{ } } `, `[]`, `0`, `"\ud800"`, `{"":{"":[[],[{}]]}}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if Check(text, Limits{Depth: 100, Once: true}) != nil {
			return
		}
		var out bytes.Buffer
		again(&out, Trim(text))
		plain := func(b []byte) string {
			d := json.NewDecoder(bytes.NewReader(b))
			d.UseNumber()
			var v any
			if err := d.Decode(&v); err != nil {
				t.Fatalf("%q became %q: %v", text, b, err)
			}
			s, _ := json.Marshal(v)
			return string(s)
		}
		if got, want := plain(out.Bytes()), plain(text); got != want {
			t.Errorf("%q was read as %s, want %s", text, got, want)
		}
	})
}

func FuzzStringsAreWrittenAsEncodingJSONWritesThem(f *testing.F) {
	for c := range 256 {
		for _, around := range []string{"", "a", "é", "\xc3"} {
			f.Add(around + string([]byte{byte(c)}) + around)
		}
	}
	for _, s := range []string{
		"", "plain", "\u2027\u2028\u2029\u202a", "密钥🔑 \"\\", "\xf0\x9f", "\ufffd\ufeff", "</script>&", "\xed\xa0\x80", "a\xc3", `","sub":"root`,
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		var want bytes.Buffer
		e := json.NewEncoder(&want)
		e.SetEscapeHTML(false)
		if err := e.Encode(s); err != nil {
			t.Fatal(err)
		}
		if got := AppendString([]byte("x"), s); string(got) != "x"+strings.TrimSuffix(want.String(), "\n") {
			t.Errorf("%q is written as %s, want %s", s, got[1:], want.String())
		}
	})
}

// FuzzCheck holds Check to encoding/json, which reads every text too, and AppendCompact to its Compact.
func FuzzCheck(f *testing.F) {
	for _, text := range []string{
		``, `null`, `truefalse`, `nul`, `-`, `-0`, `01`, `1.`, `1.5e+7`, `1e`, `.5`, `+1`, `"\u12"`, `"\u12gh"`, `"\ud800"`, `"\x"`, `"\`, `"a`, "\"\x1f\"", "\"\x7f\"",
		`[1,]`, `[,1]`, `[1 2]`, `[`, `[1`, `]`, `{"a"}`, `{"a":}`, `{"a":1,}`, `{,}`, `{1:2}`, `{"a":1 "b":2}`, `{"a" : [ 1 , "b c" , { } ] }  `, "\ufeff1", "\xff", `[[[[[[[[1]]]]]]]]`,
		`{"a":1,"\u0061":2}`, `{"a":1,"a":2`,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		valid := json.Valid(text) && utf8.Valid(text)
		if err := Check(text, Limits{Depth: 1 << 20}); (err == nil) != valid || err != nil && err != ErrSyntax {
			t.Fatalf("Check(%q) = %v, and json.Valid is %t", text, err, valid)
		}
		if err := Check(text, Limits{Depth: 3, Once: true, Members: 3}); errors.Is(err, ErrSyntax) == valid {
			t.Fatalf("Check(%q) within limits = %v, and json.Valid is %t", text, err, valid)
		}
		var want bytes.Buffer
		if valid && json.Compact(&want, text) == nil && !bytes.Equal(AppendCompact([]byte("x"), text)[1:], want.Bytes()) {
			t.Fatalf("AppendCompact(%q) = %q, want %q", text, AppendCompact(nil, text), want.Bytes())
		}
	})
}

// BenchmarkCheck reads an answer of 4 KiB, beside encoding/json, which does not look at names.
func BenchmarkCheck(b *testing.B) {
	text := []byte("[" + strings.Repeat(`{"id":42,"name":"Rex, a dog","tags":["a","b"],"weight":12.5,"ok":true},`, 56) + "1]")
	for name, check := range map[string]func() bool{
		"check": func() bool { return Check(text, Limits{Depth: 64, Once: true}) == nil },
		"json":  func() bool { return json.Valid(text) },
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				if !check() {
					b.Fatal("it is not valid")
				}
			}
		})
	}
}
