package restcall

import (
	"encoding/json"
	"net/url"
	"strings"
	"testing"
	"unicode"

	"github.com/keystile/keystile/internal/rawjson"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/toolplan"
)

// every is a tool with an argument in every kind of place.
var every = tool("post", "/a/{p}/b-{p2}.json", "application/json",
	[]string{"p", "p2", "p3", "q", "d", "o", "s", "j", "h", "hj", "b", "c"}, map[string]arg{
		"p":  {`{}`, toolplan.Param{Name: "p", In: "path"}},
		"p2": {`{"type":["string","array"]}`, toolplan.Param{Name: "p2", In: "path", Style: "label", Explode: true}},
		"p3": {`{"type":"string","maxLength":3}`, toolplan.Param{Name: "q3", In: "query", Style: "pipeDelimited"}},
		"q":  {`{"type":"array","items":{"type":"integer","minimum":-5}}`, queryArg("q")},
		"d":  {`{}`, toolplan.Param{Name: "d", In: "query", Style: "deepObject"}},
		"o":  {`{"type":"object"}`, queryArg("o")},
		"s":  {`{}`, toolplan.Param{Name: "s", In: "query", Style: "spaceDelimited"}},
		"j":  {`{}`, toolplan.Param{Name: "j", In: "query", JSON: true}},
		"h":  {`{}`, headerArg("X-H")},
		"hj": {`{}`, toolplan.Param{Name: "X-J", In: "header", JSON: true, Explode: true}},
		"b":  {`{"enum":["a",1.5,null,{"k":[1]}]}`, fieldArg("b")},
		"c":  {`{}`, fieldArg("c")},
	})

func FuzzBuild(f *testing.F) {
	for _, seed := range []string{
		`{"p":"1","p2":"2"}`, `{"p":"..","p2":"."}`, `{"p":"a/../b","p2":["..","."]}`, `{"p":"%2e%2e%2f","p2":"?x#y"}`,
		`{"p":{"..":".."},"p2":"a\\b","q":[1,2e1],"d":{"a":{"b":[null,1]}},"o":{"key":"v","t":8},"s":["a b"],"j":{"x":1}}`,
		`{"p":"1","p2":"2","h":"a\r\nX-Admin: 1"}`, `{"p":"1","p2":"2","h":["a",{"b":"\n"}],"hj":"\u000a"}`,
		`{"p":"1","p2":"2","b":1.50,"c":{"d":9007199254740993}}`, `{"p":"1","p":"2"}`, `[`, ``, `null`, `{"p":"\ud800","p2":"\u0000"}`,
	} {
		f.Add([]byte(seed))
	}
	p := compile(f, every)
	to := Upstream{BaseURL: "https://api.example.test/v1?t=7", AuthType: "api_key", AuthIn: "query", AuthName: "key",
		Secret: storage.NewSecret("S")}
	f.Fuzz(func(t *testing.T, arguments []byte) {
		r, err := p.Build(to, arguments)
		if err != nil {
			if _, ok := err.(*Refusal); !ok || r != nil {
				t.Fatalf("Build(%q) = %v, %v, want a *Refusal", arguments, r, err)
			}
			return
		}
		checkTarget(t, r)
		checkQuery(t, r)
		for name, values := range r.header {
			if len(values) != 1 || strings.ContainsAny(name+values[0], "\r\n\x00") {
				t.Errorf("Build(%q) has the header %q: %q", arguments, name, values)
			}
		}
		if len(r.body) > 0 && rawjson.Check(r.body, rawjson.Limits{Depth: maxDepth, Once: true}) != nil {
			t.Errorf("Build(%q) has the body %q, want JSON", arguments, r.body)
		}
		if !json.Valid(arguments) {
			t.Errorf("Build(%q) takes what is no JSON", arguments)
		}
	})
}

// checkTarget reads the URL as a server would.
func checkTarget(t *testing.T, r *Request) {
	read, err := url.ParseRequestURI(r.url.RequestURI())
	if err != nil || r.url.Host != "api.example.test" || r.url.EscapedPath() != r.url.RawPath {
		t.Fatalf("the target is %q of %q: %v", r.url.RequestURI(), r.url.Host, err)
	}
	segments := strings.Split(read.EscapedPath(), "/")
	if len(segments) != 5 || segments[1] != "v1" || segments[2] != "a" || !strings.HasPrefix(segments[4], "b-.") ||
		!strings.HasSuffix(segments[4], ".json") {
		t.Errorf("the segments are %q, want those of the template", segments)
	}
	for text, n := read.EscapedPath(), 0; n <= decodings+1; n++ {
		for _, s := range strings.FieldsFunc(text, func(r rune) bool { return r == '/' || r == '\\' }) {
			if s == "." || s == ".." {
				t.Errorf("the path %q changes the route: %q", read.EscapedPath(), text)
			}
		}
		plain, err := url.PathUnescape(text)
		if err != nil || plain == text {
			break
		}
		if text = plain; strings.ContainsFunc(text, unicode.IsControl) {
			t.Errorf("the path %q has control characters: %q", read.EscapedPath(), text)
		}
	}
}

// checkQuery looks for what no argument may change.
func checkQuery(t *testing.T, r *Request) {
	values, err := url.ParseQuery(r.url.RawQuery)
	if err != nil || !strings.HasPrefix(r.url.RawQuery, "t=7&") || !strings.HasSuffix(r.url.RawQuery, "&key=S") ||
		len(values["t"]) != 1 || len(values["key"]) != 1 {
		t.Errorf("the query is %q, %v, want the base first and the credential last", r.url.RawQuery, err)
	}
}

func FuzzBlot(f *testing.F) {
	for _, secret := range echoed {
		for _, write := range echoes {
			f.Add(secret, `{"a":"`+write(secret)+`"}`)
		}
	}
	f.Add("name-of-a-line", `"\name-of-a-line\\u005cname-of-a-line%"`)
	f.Add("12345678", `\ud83d\udd11%u00e9&#x1F511;&amp;\x41%`)
	f.Fuzz(func(t *testing.T, secret, answer string) {
		c, err := Upstream{AuthType: "basic", Secret: storage.NewSecret("user:" + secret)}.Credential()
		if err != nil || len(secret) < minHidden || strings.ContainsAny(secret, "[]") {
			return
		}
		got := string(c.Redact([]byte(answer)))
		if strings.Contains(got, secret) || strings.Contains(string(unescaped([]byte(got))), secret) &&
			strings.Contains(string(unescaped([]byte(answer))), secret) {
			t.Errorf("with the secret %q Redact(%q) = %q", secret, answer, got)
		}
		if !strings.Contains(got, "[secret]") && got != answer {
			t.Errorf("with the secret %q Redact(%q) = %q, which is changed and has nothing redacted", secret, answer, got)
		}
		for i, layer := 0, []byte(answer); i < 3; i++ { // places of an unescaped text are places of the text
			next := unescaped(layer)
			for at := range next {
				if s := lift([]span{{at, at + 1}}, layer)[0]; s.from < 0 || s.from >= s.to || s.to > len(layer) {
					t.Fatalf("lift(%d) of %q = %v", at, layer, s)
				}
			}
			layer = next[:min(len(next), 100)]
		}
	})
}
