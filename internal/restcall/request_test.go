package restcall

import (
	"bytes"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/toolplan"
)

func TestPathValueStaysWithinItsSegment(t *testing.T) {
	for _, c := range []struct{ template, value, want string }{
		{"/a/{x}", `"b"`, "/a/b"}, {"/a/{x}/c", `"b"`, "/a/b/c"}, {"/{x}", `"日本"`, "/%E6%97%A5%E6%9C%AC"},
		{"/a/{x}", `"b/c\\d"`, "/a/b%2Fc%5Cd"}, {"/a/{x}", `"%2e%2e."`, "/a/%252e%252e."},
		{"/a/{x}", `"a+b c"`, "/a/a+b%20c"}, {"/a/{x}", `"@:$&=~-_.!*'()"`, "/a/@:$&=~-_.%21%2A%27%28%29"},
		{"/a/{x}", `"..."`, "/a/..."}, {"/a/{x}", `"..b"`, "/a/..b"}, {"/a/{x}.json", `"b."`, "/a/b..json"}, {"/a/{x}b", `"..c"`, "/a/..cb"},
		{"/a/{x}", `"{x}"`, "/a/%7Bx%7D"}, {"/a/{x}/{x}", `"b"`, "/a/b/b"}, {"/a/{y}/{x}", `"b"`, "/a/%7By%7D/b"},
		{"/a b/{x}|ä", `"b"`, "/a%20b/b%7C%C3%A4"}, {"/a%2Fb/%zz/{x}", `"b"`, "/a%2Fb/%25zz/b"}, {"//{x}/", `"b"`, "//b/"},
		{"/a/{x}?kind=1&b=c+d", `"b"`, "/a/b?kind=1&b=c+d"}, {"/a/{x}#tag", `"b"`, "/a/b"},
		{"/a/{x}", `true`, "/a/true"}, {"/a/{x}", `-1.50e3`, "/a/-1.50e3"}, {"/a/{x}", `[1,null,"b"]`, "/a/1,b"}, {"/a/{x}", `{"k":1,"l":"m"}`, "/a/k,1,l,m"}, {"/a/{x}", `[[1, 2]]`, "/a/%5B1%2C2%5D"},
	} {
		if got := target(t, one("get", c.template, "", "{}", pathArg("x")), `{"x":`+c.value+`}`); got != c.want {
			t.Errorf("%s with %s = %s, want %s", c.template, c.value, got, c.want)
		}
	}
	for _, c := range []struct{ template, arguments, wantText string }{
		{"/a/{x}", `{"x":".."}`, "a segment . or .."}, {"/a/{x}", `{"x":"."}`, "a segment . or .."}, {"/a/.{x}", `{"x":"."}`, "a segment . or .."}, {"/a/{x}.", `{"x":"."}`, "a segment . or .."},
		{"/a/%2E{x}", `{"x":"."}`, "a segment . or .."}, {"/a/{x}%2e", `{"x":"."}`, "a segment . or .."}, {"/a/{x}{x}", `{"x":"."}`, "a segment . or .."},
		{"/a/{x}", `{"x":["."]}`, "a segment . or .."}, {"/a/{x}", `{"x":""}`, "must not be empty"}, {"/a/{x}", `{"x":[]}`, "must not be empty"}, {"/a/{x}", `{"x":{}}`, "must not be empty"}, {"/a/{x}", `{"x":[null,""]}`, "must not be empty"},
		{"/a/{x}", `{"x":"../../etc/passwd"}`, "a segment . or .."}, {"/a/{x}", `{"x":"..\\admin"}`, "a segment . or .."}, {"/a/{x}", `{"x":"%2e%2e"}`, "a segment . or .."}, {"/a/{x}", `{"x":"%252e%252e%252f"}`, "a segment . or .."},
		{"/a/{x}.json", `{"x":"."}`, "a segment . or .."}, {"/a/{x}b", `{"x":"."}`, "a segment . or .."}, {"/a/{x}b", `{"x":"c/."}`, "a segment . or .."}, {"/a/{x}", `{"x":["b","../c"]}`, "a segment . or .."}, {"/a/{x}", `{"x":{"..":"b"}}`, "a segment . or .."},
		{"/a/{x}.", `{"x":"b/"}`, "a segment . or .."}, {"/a/.{x}", `{"x":";b"}`, "a segment . or .."}, {"/a/.{x}", `{"x":"/b"}`, "a segment . or .."}, {"/a/%2e{x}", `{"x":"%2fb"}`, "a segment . or .."},
		{"/a/{x}", `{"x":"b\r\n"}`, "no control characters"}, {"/a/{x}", `{"x":"b\u0000"}`, "no control characters"}, {"/a/{x}", `{"x":"b%00"}`, "no control characters"}, {"/a/{x}", `{"x":"b\u0085"}`, "no control characters"}, {"/a/{x}", `{"x":["b","\t"]}`, "no control characters"},
		{"/a/{x}", `{"x":"/"}`, "must not be empty"}, {"/a/{x}", `{"x":"%2f/"}`, "must not be empty"},
		{"/a/{x}", `{}`, `"x" is required`}, {"/a/{x}", `{"x":null}`, `"x" is required`},
	} {
		if got := target(t, one("get", c.template, "", "{}", pathArg("x")), c.arguments); !strings.Contains(got, c.wantText) || !strings.Contains(got, `"x"`) {
			t.Errorf("%s with %s = %s, want a refusal: %s", c.template, c.arguments, got, c.wantText)
		}
	}
}

// TestStyles is the table of OpenAPI 3.1.0 4.8.12, with RFC 6570 for what is empty.
func TestStyles(t *testing.T) {
	list, object := `["b","c,d"]`, `{"R":100,"G&":"b c"}`
	for _, c := range []struct {
		in, style   string
		explode     bool
		value, want string
	}{
		{"path", "simple", false, `"b"`, "b"}, {"path", "simple", true, `"b"`, "b"}, {"path", "simple", false, list, "b,c%2Cd"}, {"path", "simple", true, list, "b,c%2Cd"},
		{"path", "simple", false, object, "R,100,G&,b%20c"}, {"path", "simple", true, object, "R=100,G&=b%20c"},
		{"path", "label", false, `"b"`, ".b"}, {"path", "label", true, `"b"`, ".b"}, {"path", "label", false, list, ".b,c%2Cd"}, {"path", "label", true, list, ".b.c%2Cd"},
		{"path", "label", false, object, ".R,100,G&,b%20c"}, {"path", "label", true, object, ".R=100.G&=b%20c"},
		{"path", "matrix", false, `"b"`, ";x=b"}, {"path", "matrix", true, `"b"`, ";x=b"}, {"path", "matrix", false, list, ";x=b,c%2Cd"}, {"path", "matrix", true, list, ";x=b;x=c%2Cd"},
		{"path", "matrix", false, object, ";x=R,100,G&,b%20c"}, {"path", "matrix", true, object, ";R=100;G&=b%20c"},
		{"query", "", false, `"b c"`, "x=b%20c"}, {"query", "form", false, list, "x=b,c%2Cd"}, {"query", "form", true, list, "x=b&x=c%2Cd"}, {"query", "form", true, `"+"`, "x=%2B"},
		{"query", "form", false, object, "x=R,100,G%26,b%20c"}, {"query", "form", true, object, "R=100&G%26=b%20c"},
		{"query", "spaceDelimited", false, list, "x=b%20c%2Cd"}, {"query", "spaceDelimited", false, `{"R":100,"G&":"bc"}`, "x=R%20100%20G%26%20bc"}, {"query", "spaceDelimited", true, list, "x=b&x=c%2Cd"},
		{"query", "pipeDelimited", false, list, "x=b%7Cc%2Cd"},
		{"query", "pipeDelimited", false, object, "x=R%7C100%7CG%26%7Cb%20c"},
		{"query", "pipeDelimited", true, list, "x=b&x=c%2Cd"},
		{"query", "deepObject", true, object, "x%5BR%5D=100&x%5BG%26%5D=b%20c"}, {"query", "deepObject", true, list, "x%5B%5D=b&x%5B%5D=c%2Cd"}, {"query", "deepObject", true, `{"a":{"b":[1,null]},"n":null}`, "x%5Ba%5D%5Bb%5D%5B%5D=1"}, {"query", "deepObject", true, `"b"`, "x=b"},
		{"query", "form", true, `[]`, ""}, {"query", "form", false, `[]`, ""}, {"query", "form", true, `{}`, ""}, {"query", "form", true, `[null]`, ""}, {"query", "form", true, `""`, "x="}, {"query", "form", true, `[""]`, "x="}, {"query", "deepObject", true, `{}`, ""},
		{"query", "form", true, `[{"a": [1, 2]}]`, "x=%7B%22a%22%3A%5B1%2C2%5D%7D"},
	} {
		p := toolplan.Param{Name: "x", In: c.in, Style: c.style, Explode: c.explode}
		got := target(t, one("get", map[string]string{"path": "/{x}", "query": "/"}[c.in], "", "{}", p), `{"x":`+c.value+`}`)
		if got = strings.TrimPrefix(strings.TrimPrefix(got, "/"), "?"); got != c.want {
			t.Errorf("%s %s, explode %t, %s = %s, want %s", c.in, c.style, c.explode, c.value, got, c.want)
		}
	}
}

func TestContentParameterIsSentAsJSON(t *testing.T) {
	for _, c := range []struct{ in, value, want string }{
		{"query", `{"a": [1, "b"]}`, "/?x=%7B%22a%22%3A%5B1%2C%22b%22%5D%7D"}, {"query", `"b"`, "/?x=%22b%22"}, {"query", `9007199254740993`, "/?x=9007199254740993"}, {"path", `["b"]`, "/%5B%22b%22%5D"},
	} {
		p := toolplan.Param{Name: "x", In: c.in, JSON: true, Style: map[string]string{"query": "deepObject"}[c.in]}
		if got := target(t, one("get", map[string]string{"path": "/{x}", "query": "/"}[c.in], "", "{}", p), `{"x":`+c.value+`}`); got != c.want {
			t.Errorf("%s %s = %s, want %s", c.in, c.value, got, c.want)
		}
	}
	p := headerArg("X-Filter")
	p.JSON = true
	r, err := build(t, one("get", "/", "", "{}", p), "{\"x\":{\"a\":\n1}}")
	if err != nil || r.header.Get("X-Filter") != `{"a":1}` {
		t.Errorf("Build() = %v, %v, want the JSON on one line", r, err)
	}
}

func TestBaseURLComesFirstAndTheCredentialLast(t *testing.T) {
	key := func(name string) Upstream {
		return Upstream{AuthType: "api_key", AuthIn: "query", AuthName: name, Secret: storage.NewSecret("S&1 é")}
	}
	plain := one("get", "/pets?v=2", "", "{}", queryArg("q"))
	spread := one("get", "/pets?v=2", "", "{}", queryArg("o"))
	for _, c := range []struct {
		base            string
		to              Upstream
		tool            toolplan.Tool
		arguments, want string
	}{
		{"https://a", Upstream{}, plain, `{"x":1}`, "https://a/pets?v=2&q=1"},
		{"https://a/", Upstream{}, plain, `{"x":1}`, "https://a/pets?v=2&q=1"},
		{"http://a:8080/b%2Fc//?t=7&u", Upstream{}, plain, `{"x":1}`, "http://a:8080/b%2Fc/pets?t=7&u&v=2&q=1"},
		{"https://a?t=7", key("key"), plain, `{"x":1}`, "https://a/pets?t=7&v=2&q=1&key=S%261%20%C3%A9"},
		{"https://a?key=old&t=7&%6Bey=old", key("key"), plain, `{"x":1}`, "https://a/pets?t=7&v=2&q=1&key=S%261%20%C3%A9"},
		{"https://a", key("q"), plain, `{"x":[1,2]}`, "https://a/pets?v=2&q=S%261%20%C3%A9"},
		{"https://a", key("k&"), spread, `{"x":{"k&":1,"l":2}}`, "https://a/pets?v=2&l=2&k%26=S%261%20%C3%A9"},
		{"https://a?q=0", Upstream{}, plain, `{"x":1}`, `argument "x" must not set "q"`},
		{"https://a?%71=0", Upstream{}, plain, `{"x":1}`, `argument "x" must not set "q"`},
		{"https://a?tenant=7", Upstream{}, spread, `{"x":{"tenant":8}}`, `argument "x" must not set "tenant"`},
		{"https://a", Upstream{}, spread, `{"x":{"v":1}}`, `argument "x" must not set "v"`},
	} {
		c.to.BaseURL = c.base
		r, err := compile(t, c.tool).Build(c.to, raw(c.arguments))
		if err != nil && !strings.Contains(err.Error(), c.want) || err == nil && r.url.String() != c.want {
			t.Errorf("%s with %s: %v, %v, want %s", c.base, c.arguments, r, err, c.want)
		}
	}
}

func TestRequestQueryHasNoControlCharacters(t *testing.T) {
	for _, style := range []toolplan.Param{{Explode: true}, {}, {Style: "spaceDelimited"}, {Style: "pipeDelimited"},
		{Style: "deepObject", Explode: true}} {
		style.Name, style.In = "q", "query"
		for _, value := range []string{`"a\r\nb"`, `"\u0000"`, `"a\tb"`, `"\u007f"`, `"\u0085"`, `["a","b\n"]`, `{"k":"\u001b"}`, `{"k\n":"v"}`} {
			if got := target(t, one("get", "/a", "", "{}", style), `{"x":`+value+`}`); !strings.Contains(got, `argument "x" must have no control characters`) {
				t.Errorf("%s %s = %s, want a refusal", style.Style, value, got)
			}
		}
		if got := target(t, one("get", "/a", "", "{}", style), `{"x":["ab","\u200d日本"]}`); !strings.HasPrefix(got, "/a?q") {
			t.Errorf("%s of text = %s, want a query", style.Style, got)
		}
	}
	asJSON := toolplan.Param{Name: "q", In: "query", JSON: true}
	if got := target(t, one("get", "/a", "", "{}", asJSON), "{\"x\":{\"k\":\n"+
		"\"a\\nb\"}}"); got != "/a?q=%7B%22k%22%3A%22a%5Cnb%22%7D" {
		t.Errorf("JSON with a line break = %s, want it escaped", got)
	}
}

func TestHeadersFromArguments(t *testing.T) {
	for _, c := range []struct{ name, value, want, wantText string }{
		{"X-Trace", `"abc"`, "abc", ""}, {"x-trace", `"abc"`, "abc", ""}, {"X-Trace", `"日本"`, "日本", ""}, {"X-Trace", `"a\tb"`, "", "control characters"}, {"X-Trace", `"a\u0085"`, "", "control characters"}, {"X-Trace", `[1,"b c",null]`, "1,b c", ""}, {"X-Trace", `{"a":1}`, "a,1", ""}, {"X-Trace", `9007199254740993`, "9007199254740993", ""},
		{"X-Trace", `null`, "", ""},
		{"X-Trace", `"a\r\nX-Admin: 1"`, "", "control characters"}, {"X-Trace", `"a\n"`, "", "control characters"}, {"X-Trace", `"\ra"`, "", "control characters"}, {"X-Trace", `"a\u0000"`, "", "control characters"}, {"X-Trace", `"\u007f"`, "", "control characters"}, {"X-Trace", `["a","b\n"]`, "", "control characters"}, {"X-Trace", `{"a\nb":1}`, "", "control characters"},
		{"X-Trace", `"` + strings.Repeat("a", maxHeader+1) + `"`, "", "at most 8192 bytes"}, {"X-Trace", `"` + strings.Repeat("a", maxHeader) + `"`, strings.Repeat("a", maxHeader), ""},
	} {
		r, err := build(t, one("get", "/", "", "{}", headerArg(c.name)), `{"x":`+c.value+`}`)
		switch {
		case c.wantText != "" && (err == nil || !strings.Contains(err.Error(), c.wantText) || !strings.Contains(err.Error(), `"x"`)):
			t.Errorf("%s: %.60s = %v, want a refusal: %s", c.name, c.value, err, c.wantText)
		case c.wantText == "" && (err != nil || r.header.Get("X-Trace") != c.want):
			t.Errorf("%s: %.60s = %v, %v, want %.60s", c.name, c.value, r, err, c.want)
		}
	}
}

func TestLongURLIsRefused(t *testing.T) {
	if got := target(t, one("get", "/", "", "{}", queryArg("q")), `{"x":"`+strings.Repeat("a", maxTarget)+`"}`); !strings.Contains(got, "URL of more than 16384 bytes") {
		t.Errorf("Build() = %.100s, want a refusal", got)
	}
}

func TestUpstreamSeesNoHeaderThatNobodyMeant(t *testing.T) {
	u := serve(t, false, answers(200, "{}"))
	c := u.caller(t, Config{})
	to := Upstream{BaseURL: base, AuthType: "api_key", AuthIn: "header", AuthName: "x-api-key",
		Secret: storage.NewSecret("S")}
	tool := tool("post", "/x", "application/json", []string{"k", "b"},
		map[string]arg{"k": {"{}", headerArg("X-Api-Key")}, "b": {"{}", fieldArg("b")}})
	if _, err := c.Call(t.Context(), to, compile(t, tool), raw(`{"k":"stolen","b":1}`)); err != nil {
		t.Fatal(err)
	}
	want := http.Header{
		"Accept": {"application/json, */*;q=0.8"}, "Accept-Encoding": {"gzip"}, "Content-Length": {"7"},
		"Content-Type": {"application/json"},
		"User-Agent":   {"keystile"}, "X-Api-Key": {"S"},
	}
	if got := u.only(t).header; fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("the headers are %v, want %v", got, want)
	}
}

func TestUpstreamThatIsNotSetUpIsAResult(t *testing.T) {
	secret := storage.NewSecret("topsecret")
	u := serve(t, false, answers(200, "{}"))
	for _, c := range []struct {
		to       Upstream
		wantText string
	}{
		{Upstream{}, "URL"}, {Upstream{BaseURL: "file:///etc"}, "scheme"},
		{Upstream{BaseURL: "http://topsecret:topsecret@a/"}, "user or password"},
		{Upstream{BaseURL: base, AuthType: "digest", Secret: secret}, "auth_type"},
		{Upstream{BaseURL: base, AuthType: "bearer"}, "auth_secret must not be empty"},
		{Upstream{BaseURL: base, AuthType: "basic", Secret: secret}, "user:password"},
		{Upstream{BaseURL: base, AuthType: "bearer", Secret: storage.NewSecret("topsecret\r\nX: y")}, "control characters"},
		{Upstream{BaseURL: base, AuthType: "api_key", AuthIn: "cookie", AuthName: "a", Secret: secret}, "auth_in"},
		{Upstream{BaseURL: base, AuthType: "api_key", AuthIn: "query", Secret: secret}, "auth_name"},
		{Upstream{BaseURL: base, AuthType: "api_key", AuthIn: "header", Secret: secret}, "auth_name"},
		{Upstream{BaseURL: base, AuthType: "api_key", AuthIn: "header", AuthName: "a b", Secret: secret}, "auth_name"},
		{Upstream{BaseURL: base, AuthType: "api_key", AuthIn: "header", AuthName: "Host", Secret: secret}, "auth_name"},
	} {
		r, err := u.caller(t, Config{}).Call(t.Context(), c.to, compile(t, get), nil)
		if err != nil || !r.IsError || r.Dispatched || !strings.Contains(texts(r), c.wantText) ||
			strings.Contains(texts(r), "topsecret") {
			t.Errorf("Call(%+v) = %+v, %v, want an error about %s", c.to, r, err, c.wantText)
		}
		if err := c.to.Check(); err == nil || !strings.Contains(err.Error(), c.wantText) {
			t.Errorf("Check(%+v) = %v, want an error about %s", c.to, err, c.wantText)
		}
	}
	if n := len(u.requests()); n != 0 {
		t.Errorf("%d requests arrived, want none", n)
	}
	for _, name := range []string{"Authorization", "Cookie", "X-API-Key"} {
		if err := (Upstream{BaseURL: base, AuthType: "api_key", AuthIn: "header", AuthName: name,
			Secret: secret}).Check(); err != nil {
			t.Errorf("Check(a key in %s) = %v, want no error", name, err)
		}
	}
	both := Upstream{BaseURL: "ftp://a", AuthType: "digest"}.Check()
	if both == nil || !strings.Contains(both.Error(), "scheme") || !strings.Contains(both.Error(), "auth_type") {
		t.Errorf("Check() = %v, want both complaints", both)
	}
}

func TestPlanIsSharedByCalls(t *testing.T) {
	p := compile(t, one("post", "/{x}", "", "{}", pathArg("x")))
	t.Run("group", func(t *testing.T) {
		for i := range 8 {
			t.Run("", func(t *testing.T) {
				t.Parallel()
				for range 100 {
					r, err := p.Build(Upstream{BaseURL: base}, fmt.Appendf(nil, `{"x":%d}`, i))
					if want := fmt.Sprintf("/v1/%d", i); err != nil || r.url.Path != want {
						t.Fatalf("Build() = %v, %v, want %s", r, err, want)
					}
				}
			})
		}
	})
}

func TestBuildLeavesItsInputAlone(t *testing.T) {
	arguments := raw(`{"x": {"b": 1}}`)
	before := slices.Clone(arguments)
	r, err := compile(t, one("post", "/", "application/json", "{}", whole{})).Build(Upstream{BaseURL: base}, arguments)
	if err != nil || !bytes.Equal(arguments, before) {
		t.Fatalf("Build() = %v, %v and left %s, want %s", r, err, arguments, before)
	}
	if clear(arguments); string(r.body) != `{"b": 1}` {
		t.Errorf("the body is %q once the caller uses its buffer again, want a copy", r.body)
	}
}
