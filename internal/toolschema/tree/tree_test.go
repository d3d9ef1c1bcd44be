package tree

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"
)

func TestJSONIsToldFromOtherText(t *testing.T) {
	for _, text := range texts {
		got, err := Parse(text, 64)
		if want := json.Valid([]byte(text)); (err == nil) != want {
			t.Errorf("Parse(%q) = %v, %v, want it read: %t", text, got, err, want)
		}
	}
}

func TestTreeWritesWhatItReads(t *testing.T) {
	for _, text := range texts {
		if v, err := Parse(text, 64); err == nil {
			same(t, text, v)
		}
	}
}

// texts are also the seeds of FuzzParse.
var texts = []string{
	"", " ", "null", "true", "false", "nul", "truex", "tru", "0", "-0", "01", "-", "-01", "1.", "1.5", ".5", "1e", "1e+",
	"1e999",
	"1E-7", "9007199254740993", "+1", "1 2", "NaN", `""`, `"`, `"\`, `"\"`, `"a\nb"`, `"a\qb"`, "\"a\nb\"", `"\u00e9\ud83d\ude00"`,
	`"\ud800"`, "\"\xff\"", "\"\x00\"", "\x00", `"\u12"`, `"\u12zz"`, `"\u123"`, `"\u00E9"`, `"\u00/9"`, `"\u00:9"`, `"\u00@9"`, `"\u00g9"`, "[]", "[ ]", "[1,]", "[,1]", "[1 2]", "[1,2", "[1, [2, {}], \"x\"]", "]",
	"{}", `{ "a" : 1 , "b" : [ ] }`, `{"a":1,}`, `{,"a":1}`, `{"a" 1}`, `{"a":}`, `{a:1}`, `{"a":1 "b":2}`, `{"a":1`, `{"a"`, `{1:2}`, `{"b":1,"a":2,"b":3}`,
	`{"x":[{"y":{"z":[[],{}]}}, 1],"k":null}`, "\ufeff{}", "{}{}", "'a'", "\"<&>\u2028\"", "[1]]", " [ true , false , null ] ",
}

func TestDoubledKeyTakesTheLastValue(t *testing.T) {
	v, err := Parse(`{"b":1,"a":[],"b":2,"c":{},"b":3}`, 9)
	if err != nil {
		t.Fatal(err)
	}
	want := Object{{"a", Array(nil)}, {"b", Number("3")}, {"c", Object(nil)}}
	if !reflect.DeepEqual(v, want) {
		t.Errorf("Parse() = %v, want %v", v, want)
	}
}

func TestDoubledKeysWithoutEndTakeTheLastValue(t *testing.T) {
	var b strings.Builder
	for i := range 100 {
		fmt.Fprintf(&b, `"k%d":%d,`, (100-i)%10, i)
	}
	v, err := Parse(`{`+b.String()+`"k":-1}`, 9)
	if err != nil {
		t.Fatal(err)
	}
	o := v.(Object)
	for i := range 10 {
		if got, want := o.Get(fmt.Sprintf("k%d", i)), Number(fmt.Sprint(90+(10-i)%10)); got != want {
			t.Errorf("k%d = %v, want the last, %s", i, got, want)
		}
	}
	if len(o) != 11 {
		t.Errorf("%d members, want 11", len(o))
	}
}

func TestDepthIsBoundedWhileReading(t *testing.T) {
	for _, open := range []string{"[", `{"a":`} {
		shut := map[string]string{"[": "]", `{"a":`: "}"}[open]
		at := strings.Repeat(open, 64) + "1" + strings.Repeat(shut, 64)
		if _, err := Parse(at, 64); err != nil {
			t.Errorf("Parse(64 levels of %s) = %v, want no error", open, err)
		}
		for _, text := range []string{open + at + shut, strings.Repeat(open, 5_000_000)} {
			if _, err := Parse(text, 64); !errors.Is(err, ErrDepth) {
				t.Errorf("Parse(%d bytes of %s) = %v, want ErrDepth", len(text), open, err)
			}
		}
	}
	if _, err := Parse("[[],[[]],[]]", 3); err != nil {
		t.Errorf("Parse(siblings) = %v, want levels counted down again", err)
	}
}

func TestLazyParsingGivesTheSameAndIsCheckedAtOnce(t *testing.T) {
	lazy := func(path []string) bool { return len(path) > 1 && path[len(path)-1] == "z" }
	for _, text := range texts {
		text = `{"z":{"y":[{"z":` + text + `}]}}`
		want, wantErr := Parse(text, 64)
		got, err := ParseLazily(text, 64, lazy)
		if (err == nil) != (wantErr == nil) {
			t.Errorf("ParseLazily(%s) = %v, want %v", text, err, wantErr)
		}
		if err != nil {
			continue
		}
		same(t, text, got) // unread
		y, _ := got.(Object).Get("z").(Object).Get("y").(Array)
		inner := y[0].(Object)
		if _, is := inner[0].Value.(later); !is {
			t.Errorf("%s was read at once", text)
		}
		inner.Get("z")
		if !reflect.DeepEqual(got, want) {
			t.Errorf("ParseLazily(%s) = %v, want %v", text, got, want)
		}
	}
	deep := `{"a":{"z":` + strings.Repeat("[", 63) + strings.Repeat("]", 63) + `}}`
	if _, err := ParseLazily(deep, 64, lazy); !errors.Is(err, ErrDepth) {
		t.Errorf("ParseLazily(65 levels) = %v, want ErrDepth", err)
	}
	if v, err := ParseLazily(deep, 65, lazy); err != nil || v.(Object).Get("a").(Object).Get("z") == nil {
		t.Errorf("ParseLazily(what just fits) = %v, %v", v, err)
	}
}

func TestTreePathLeadsThroughArrays(t *testing.T) {
	var paths []string
	_, err := ParseLazily(`{"a":[{"b":1},2,{"c":{"d":[]}}],"e":{}}`, 9, func(path []string) bool {
		paths = append(paths, strings.Join(path, "/"))
		return false
	})
	if want := []string{"a", "a//b", "a//c", "a//c/d", "e"}; err != nil || !reflect.DeepEqual(paths, want) {
		t.Errorf("paths = %q, %v, want %q", paths, err, want)
	}
}

func TestLookups(t *testing.T) {
	o := NewObject(Member{"t", true}, Member{"s", "x"}, Member{"n", nil}, Member{"i", Number("1")})
	if v, there := o.Lookup("n"); v != nil || !there {
		t.Errorf("Lookup(n) = %v, %v, want a null that is there", v, there)
	}
	if v, there := o.Lookup("m"); v != nil || there {
		t.Errorf("Lookup(m) = %v, %v, want nothing", v, there)
	}
	if o.Get("s") != "x" || o.Text("s") != "x" || o.Text("t") != "" || !o.True("t") || o.True("s") {
		t.Errorf("the members of %v read as something else", o)
	}
}

func TestEqualIsByValueAndByTheDigits(t *testing.T) {
	read := func(text string) any {
		v, err := Parse(text, 9)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{`{"a":[1,{"b":null}],"c":"x"}`, `{"c":"x","a":[1,{"b":null}]}`, true},
		{`{"a":1}`, `{"a":2}`, false}, {`{"a":1}`, `{"b":1}`, false}, {`{"a":1}`, `{}`, false}, {`{}`, `[]`, false}, {`[]`, `{}`, false},
		{`1`, `1.0`, false}, {`"1"`, `1`, false}, {`[1]`, `[1,2]`, false}, {`null`, `[]`, false}, {`null`, `false`, false}, {`null`, `null`, true},
		{`9007199254740993`, `9007199254740992`, false}, {`1`, `{}`, false},
	} {
		if got := Equal(read(c.a), read(c.b)); got != c.want {
			t.Errorf("Equal(%s, %s) = %t, want %t", c.a, c.b, got, c.want)
		}
	}
}

func TestAppendStopsAtItsEnd(t *testing.T) {
	long := strings.Repeat("x", 1<<20)
	for name, v := range map[string]any{
		"a string": long, "a key": NewObject(Member{long, nil}), "an escaped string": long + "\n",
		"an array": make(Array, 1<<20), "an object": make(Object, 1<<20),
	} {
		out, whole := Append(nil, v, 100)
		if whole || len(out) > 200 {
			t.Errorf("Append(%s) = %d bytes, whole: %t, want it stopped soon after 100", name, len(out), whole)
		}
	}
	out, whole := Append([]byte("...."), Array{nil, true}, len("[null,true]"))
	if !whole || string(out) != "....[null,true]" {
		t.Errorf("Append(what just fits) = %s, %t", out, whole)
	}
	if _, whole := Append(nil, Array{nil, true}, len("[null,true]")-1); whole {
		t.Error("Append(one byte too much) = whole, want not")
	}
}

func FuzzParse(f *testing.F) {
	for _, text := range texts {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		v, err := Parse(text, 64)
		if errors.Is(err, ErrDepth) {
			return
		}
		if valid := json.Valid([]byte(text)); valid != (err == nil) {
			t.Fatalf("Parse(%q) = %v, encoding/json reads it: %t", text, err, valid)
		}
		if err == nil {
			same(t, text, v)
		}
	})
}

// same asks encoding/json whether a tree is what its text says.
func same(t *testing.T, text string, v any) {
	t.Helper()
	out, whole := Append(nil, v, math.MaxInt32)
	if !whole {
		t.Fatalf("Append(%q) is cut", text)
	}
	if got, want := decoded(t, out), decoded(t, []byte(text)); !reflect.DeepEqual(got, want) {
		t.Errorf("%q is written as %s", text, out)
	}
}

func decoded(t *testing.T, text []byte) (v any) {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	return v
}
