package restcall

import (
	"encoding/json"
	"mime"
	"mime/multipart"
	"net/url"
	"strings"
	"testing"

	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/toolplan"
)

// The forms that documents ask for are in testdata/encoding.json, which package registry runs.

// A capability that was stored before fields had styles, types and headers is called as it
// was then.
func TestPlansOfBeforeGoOnWorking(t *testing.T) {
	for _, c := range []struct{ call, arguments, want string }{
		{`{"template":"/a","body":{"content_type":"application/x-www-form-urlencoded","fields":[{"arg":"x","name":"x","required":true},{"arg":"y","name":"y"}],"required":true}}`,
			`{"x":["1","2"],"y":{"k": [1]}}`, "x=1&x=2&y=%7B%22k%22%3A%5B1%5D%7D"},
		{`{"template":"/a","body":{"content_type":"application/json","fields":[{"arg":"x","name":"x"},{"arg":"y","name":"z"}]}}`, `{"x":1,"y":null}`, `{"x":1,"z":null}`},
		{`{"template":"/{x}","params":[{"arg":"x","name":"x","in":"path","required":true},{"arg":"y","name":"y","in":"query","style":"deepObject","explode":true}]}`, `{"x":"1","y":{"a":["b"]}}`, ""},
	} {
		var call toolplan.Call
		decode(t, raw(c.call), &call)
		r, err := build(t, toolplan.Tool{Name: "op", Method: "post", InputSchema: raw(`{"type":"object","properties":{"x":{},"y":{}}}`), Call: &call}, c.arguments)
		if err != nil || string(r.body) != c.want {
			t.Errorf("%s of %s: %+v, %v, want the body %q", c.call, c.arguments, r, err, c.want)
		}
	}
}

// A short call must not become a request of any length, nor take long to be refused.
func TestFormsAreBounded(t *testing.T) {
	if testing.Short() {
		t.Skip("fills large forms")
	}
	const form, parts = "application/x-www-form-urlencoded", "multipart/form-data"
	long := strings.Repeat("k", 1<<20)
	many := "[" + strings.Repeat("1,", 1_000_000) + "1]"
	deep := func(style string) toolplan.Field { return toolplan.Field{Name: "f", Style: style, Explode: true} }
	for name, c := range map[string]struct {
		contentType string
		place       any
		value, want string
	}{
		"a long name in a query, often": {"", toolplan.Param{Name: "f", In: "query", Style: "deepObject"}, `{"` + long + `":` + many + `}`, "a URL of more than"},
		"a list in a query": {"", toolplan.Param{Name: strings.Repeat("n", 2000), In: "query", Explode: true},
			many, "a URL of more than"},
		"a long name in a form, often":   {form, deep("deepObject"), `{"` + long + `":` + many + `}`, "a body of more than"},
		"a long name with nothing below": {form, deep("deepObject"), `{"` + long + `":[` + strings.Repeat(`{"a":[]},`, 200_000) + `{"a":"b"}]}`, ""},
		"a list in a form": {form, toolplan.Field{Name: strings.Repeat("n", 2000)}, many,
			"a body of more than"},
		"an exploded list in a form": {form, toolplan.Field{Name: strings.Repeat("n", 2000), Style: "form",
			Explode: true}, many, "a body of more than"},
		"a list of parts":               {parts, toolplan.Field{Name: "f"}, many, "a body of more than"},
		"a list of parts of a style":    {parts, deep("form"), many, "a body of more than"},
		"a list of files that are none": {parts, toolplan.Field{Name: "f", File: true}, `[` + strings.Repeat(`"!",`, 500_000) + `"!"]`, "must be base64"},
		"parameters of a data URL":      {parts, toolplan.Field{Name: "f", File: true}, `"data:a/b` + strings.Repeat(";x=y", 900_000) + `,"`, "at most"},
		"members of a whole form":       {form, whole{}, `{"` + long + `":` + many + `}`, "a body of more than"},
		"a list in a cookie": {"", toolplan.Param{Name: "f", In: "cookie", Explode: true}, many,
			"cookies of more than"},
		"a list in a cookie, not exploded": {"", toolplan.Param{Name: "f", In: "cookie"}, many, "cookies of more than"},
	} {
		r, err := build(t, one("post", "/", c.contentType, "{}", c.place), `{"x":`+c.value+`}`)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want) ||
			len(err.Error()) > 4<<10) {
			t.Errorf("%s: %.60v, %.300v, want a refusal: %s", name, r, err, c.want)
		}
	}
}

func TestNamesOfFilesHaveNoPath(t *testing.T) {
	for name, want := range map[string]string{
		"a.txt": "a.txt", "../a": "a", `..\a`: "a", "%2e%2e%2fa": "a", "%252e%252e%252fa.b": "a.b", "a%5Cb": "b", "100%": "100%", "a%20b": "a%20b", "..": "", "/": "", " . ": "", "a\x00\u202eb": "ab", "%2F..%2F": "", "C:x": "C:x", "..%2Fx%zz": "x%zz", "..%252fx%zz": "x%zz",
		strings.Repeat("é", 300) + ".png": strings.Repeat("é", 98) + ".png",
	} {
		if got := cleanName(name); got != want {
			t.Errorf("cleanName(%.40q) = %q, want %q", name, got, want)
		}
	}
}

func TestCookiesJoinThoseOfTheCredential(t *testing.T) {
	cookie := func(name string, explode bool) toolplan.Param {
		return toolplan.Param{Name: name, In: "cookie", Explode: explode}
	}
	to := Upstream{BaseURL: base, AuthType: "api_key", AuthIn: "header", AuthName: "cookie",
		Secret: storage.NewSecret("session=upstream-secret; b=2")}
	for _, c := range []struct {
		param           toolplan.Param
		arguments, want string
	}{
		{cookie("a", true), `{"x":"1"}`, "session=upstream-secret; b=2; a=1"},
		{cookie("a", true), `{}`, "session=upstream-secret; b=2"},
		{cookie("a", true), `{"x":["1","2,3"]}`, "session=upstream-secret; b=2; a=1; a=2%2C3"},
		{cookie("a", false), `{"x":["1","2,3"]}`, "session=upstream-secret; b=2; a=1,2%2C3"},
		{cookie("a", true), `{"x":{"k":"v"}}`, "session=upstream-secret; b=2; k=v"},
		{cookie("session", true), `{"x":"mine"}`, `must not set the cookie "session"`},
		{cookie("a", true), `{"x":{"session":"mine"}}`, `must not set "session"`},
		{cookie("a", true), `{"x":{"k; session":"mine"}}`, `must not set the cookie "k; session"`},
		{cookie("a", true), `{"x":"v\r\nX: y"}`, "control characters"},
	} {
		r, err := compile(t, one("get", "/", "", "{}", c.param)).Build(to, raw(c.arguments))
		if err != nil && !strings.Contains(err.Error(), c.want) || err == nil && r.header.Get("Cookie") != c.want {
			t.Errorf("%+v of %s: %v, %v, want %s", c.param, c.arguments, r, err, c.want)
		}
	}
}

// FuzzForm reads what is written as servers do: whatever the arguments are, they begin no
// entry, part or header of their own.
func FuzzForm(f *testing.F) {
	for _, seed := range []string{
		`{"a":"x&b=c","b":["1",null,{"k":2}],"c":{"d":[{"e":"f"},"g"]},"f":"aGk="}`, `{"f":{"name":"a\"; x=\"\r\n\r\n--b","type":"text/html","data":"data:image/png;name=%2e%2e%2fz,abc"},"d":["a|b","c"]}`,
		`{"m":{"x\r\ny":1,"z":"\u0000"},"h":"v\r\nX: y","a":"1"}`, `{"f":["data:;base64,AA==",{"data":""}],"c":[["1"]]}`, `{"f":{"data":7}}`,
	} {
		f.Add([]byte(seed))
	}
	names := []string{"a", "b", "c", "d", "e", "f"}
	forms := map[string]*Plan{}
	for _, kind := range []string{"application/x-www-form-urlencoded", "multipart/form-data"} {
		everything := tool("post", "/", kind, []string{"a", "b", "c", "d", "e", "f"}, map[string]arg{
			"a": {`{}`, toolplan.Field{Name: "a", ContentType: "application/json, text/*", Headers: []toolplan.PartHeader{{Name: "X-H", Arg: "h"}}}}, "b": {`{}`, fieldArg("b")}, "c": {`{}`, toolplan.Field{Name: "c", Style: "deepObject"}},
			"d": {`{}`, toolplan.Field{Name: "d", Style: "pipeDelimited"}}, "e": {`{}`, toolplan.Field{Name: "e", Style: "form", Explode: true, AllowReserved: true}},
			"f": {`{"type":"string"}`, toolplan.Field{Name: "f", File: true, ContentType: "image/*, text/plain"}},
		})
		everything.InputSchema = raw(strings.Replace(string(everything.InputSchema), `"properties":{`, `"properties":{"h":{},"m":{},`, 1))
		everything.Call.Body.More = "m"
		forms[kind] = compile(f, everything)
	}
	f.Fuzz(func(t *testing.T, arguments []byte) {
		var given map[string]json.RawMessage
		for kind, p := range forms {
			r, err := p.Build(Upstream{BaseURL: base}, arguments)
			if err != nil || json.Unmarshal(arguments, &given) != nil || given["m"] != nil || len(given["e"]) > 0 &&
				given["e"][0] == '{' {
				continue // then any name may be there
			}
			known := func(name string) {
				if first, _, _ := strings.Cut(name, "["); !strings.Contains(strings.Join(names, " "), first) || first == "" {
					t.Errorf("Build(%q) as %s has the entry %q", arguments, kind, name)
				}
			}
			if kind == "multipart/form-data" && len(r.body) > 0 {
				checkParts(t, r, known)
				continue
			}
			values, err := url.ParseQuery(string(r.body))
			if err != nil {
				t.Errorf("Build(%q) = %q, which is no form: %v", arguments, r.body, err)
			}
			for name := range values {
				known(name)
			}
		}
	})
}

func checkParts(t *testing.T, r *Request, known func(name string)) {
	_, params, err := mime.ParseMediaType(r.header.Get("Content-Type"))
	if err != nil {
		t.Fatal(err)
	}
	form, err := multipart.NewReader(strings.NewReader(string(r.body)), params["boundary"]).ReadForm(64 << 20)
	if err != nil {
		t.Fatalf("%q is no multipart: %v", r.body, err)
	}
	for name := range form.Value {
		known(name)
	}
	for name, files := range form.File {
		known(name)
		for _, file := range files {
			if strings.ContainsAny(file.Filename, "/\\\r\n") || file.Filename == "" || file.Filename == ".." {
				t.Errorf("a file is named %q", file.Filename)
			}
			for header := range file.Header {
				if header != "Content-Disposition" && header != "Content-Type" && header != "X-H" {
					t.Errorf("a part has the header %q", header)
				}
			}
		}
	}
}
