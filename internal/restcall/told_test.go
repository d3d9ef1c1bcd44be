package restcall

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/toolplan"
)

// post is a tool that changes something.
var post = toolplan.Tool{Name: "make", Method: "post", Description: "make", InputSchema: raw(`{"type":"object"}`),
	Call: &toolplan.Call{Template: "/things"}}

// toldBy calls a tool whose upstream has a secret and answers with these headers: name, value, name, value.
func toldBy(t *testing.T, tool toolplan.Tool, status int, body string, header ...string) Result {
	t.Helper()
	to := Upstream{BaseURL: base, AuthType: "bearer", Secret: storage.NewSecret("s3cr3t/+value")}
	r, err := serve(t, false, answers(status, body, header...)).caller(t, Config{}).Call(t.Context(), to,
		compile(t, tool), nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestModelLearnsFromTheHeadersWhereToGoOn(t *testing.T) {
	for _, c := range []struct {
		status       int
		body         string
		header       []string
		first, after string // the first text, and what follows it
	}{
		{201, "", []string{"Location", base + "/things/9"},
			"HTTP 201 Created, with no content\nHeaders of the answer: Location: /v1/things/9", ""},
		{201, "", []string{"Location", "things/9?v=1#a"},
			"HTTP 201 Created, with no content\nHeaders of the answer: Location: things/9?v=1#a", ""},
		{201, "{}", []string{"Location", "https://api.example.test:8443/things/9"}, "{}",
			"Headers of the answer: Location: /things/9"},
		{202, "", []string{"Operation-Location", "http://10.0.0.7/operations/1", "Retry-After", "5"},
			"HTTP 202 Accepted, with no content\nHeaders of the answer: Operation-Location: /operations/1; " +
				"Retry-After: 5", ""},
		{303, "", []string{"Location", "/things/9"},
			"HTTP 303 See Other: the upstream redirects, which is not followed: its owner must register the URL " +
				"where " +
				"it ends\nHeaders of the answer: Location: /things/9", ""},
		{304, "", []string{"Etag", `"1"`}, "HTTP 304 Not Modified\nHeaders of the answer: Etag: \"1\"", ""},
		{429, "slow", []string{"Retry-After", "30", "X-RateLimit-Remaining", "0", "RateLimit", `"default";r=0;t=30`},
			"HTTP 429 Too Many Requests\nslow",
			`Headers of the answer: Ratelimit: "default";r=0;t=30; Retry-After: 30; X-Ratelimit-Remaining: 0`},
		{200, "[]", []string{"Link", `<http://api.example.test/v1/things?page=2>; rel="next", ` +
			`<https://docs.example.org/>; rel="help"`, "X-Total-Count", "31"}, "[]",
			`Headers of the answer: Link: </v1/things?page=2>; rel="next", <https://docs.example.org/>; rel="help"; ` +
				`X-Total-Count: 31`},
		{200, "[]", []string{"Etag", `W/"1"`, "X-Next-Token", "abc", "X-Ms-Continuation", "def", "Content-Range",
			"items 0-9/31"}, "[]", `Headers of the answer: Content-Range: items 0-9/31; Etag: W/"1"; ` +
			`X-Ms-Continuation: def; X-Next-Token: abc`},
		{200, "[]", []string{"Location", "https://other.example.org/a"}, "[]",
			"Headers of the answer: Location: https://other.example.org/a"},
	} {
		r := toldBy(t, post, c.status, c.body, c.header...)
		want := c.first
		if c.after != "" {
			want += "\n" + c.after
		}
		if texts(r) != want || len(r.Headers)*2 != len(c.header) {
			t.Errorf("%d %q: %q and %+v, want %q", c.status, c.header, texts(r), r.Headers, want)
		}
	}
}

func TestResponseHeadersHideWhatCallersMustNotKnow(t *testing.T) {
	for _, header := range [][]string{
		{"Set-Cookie", "session=1"}, {"Www-Authenticate", "Basic"}, {"Authorization", "x"}, {"X-Auth-Token", "x"},
		{"X-Api-Key", "x"}, {"X-Csrf-Token-Next", "x"}, {"Server", "internal/1"},
		{"X-Backend-Host", "db1"}, {"Via", "1.1 proxy"}, {"Date", "x"}, {"X-Request-Id", "1"},
		{"Access-Control-Max-Age", "1"}, {"Proxy-Next", "x"},
		{"Link", "<https://user:pw@other.example.org/>; rel=next"}, {"Link", "<http://[bad>; rel=next"},
		{"X-Next-Page", "https%3A%2F%2Fapi.example.test"},
		{"X-Next-Page", "https://user:pw@other.example.org/x"}, {"Location", "ftp://other.example.org/x"},
		{"X-Next-Page", `{"next":"https:\/\/api.example.test\/x"}`},
		{"Location", "/r?to=http%253A%252F%252Fapi.example.test"}, {"Location", "mailto:a@example.org"},
		{"Location", "https://other.example.org/?from=api.example.test"},
		{"X-Total-Count", strings.Repeat("9", maxToldValue+1)}, {"X-Page-" + strings.Repeat("a", maxToldName), "1"},
	} {
		if r := toldBy(t, post, 200, "[]", header...); texts(r) != "[]" || len(r.Headers) > 0 {
			t.Errorf("%q is told: %q", header, texts(r))
		}
	}
	r := toldBy(t, post, 200, "[]", "Location", "/things?key=s3cr3t%2F%2Bvalue", "X-Next-Page", "s3cr3t/+value")
	if text := texts(r); strings.Contains(text, "s3cr3t") || strings.Count(text, "[secret]") != 2 {
		t.Errorf("the credential is told: %q", text)
	}
	var many []string
	for i := range 3 * maxTold {
		many = append(many, fmt.Sprintf("X-Page-%d", i), "1")
	}
	if r := toldBy(t, post, 200, "[]", many...); len(r.Headers) != maxTold {
		t.Errorf("%d headers are told, want %d", len(r.Headers), maxTold)
	}
}

func TestURLInAnyHeaderIsToldWithoutItsPrivateHost(t *testing.T) {
	tool := post
	tool.Call = &toolplan.Call{Template: "/things", Tells: []string{"X-Upload-Url"}}
	for _, c := range []struct{ name, value, want string }{
		{"X-Next-Page", "https://API.example.test./x?page=2", "/x?page=2"},
		{"X-Next-Page", "http://10.0.0.5:8080/x?page=2", "/x?page=2"},
		{"X-Upload-Url", base + "/up/1", "/v1/up/1"},
		{"X-Upload-Url", "http://backend.internal/up/1", "/up/1"},
		{"X-Upload-Url", "https://files.example.org/up/1?sig=a", "https://files.example.org/up/1?sig=a"},
		{"X-Pagination", `{"total":3,"next":"http://api.example.test/x?page=2","prev":""}`,
			`{"total":3,"next":"/x?page=2","prev":""}`},
		{"Link", `</x?page=2>; rel=next; anchor="http://backend.internal/x"`, `</x?page=2>; rel=next; anchor="/x"`},
		{"Link", `</x?page=2>; rel=next, <https://u:p@other.example.org/>; rel=last, <?page=1>; rel=prev`,
			`</x?page=2>; rel=next, <?page=1>; rel=prev`},
		{"Link", `<>; rel=self, </x?page=2>; rel=next`, `<>; rel=self, </x?page=2>; rel=next`},
		{"Location", "//other.example.org/x", "//other.example.org/x"},
		{"Location", "https://user:pw@api.example.test/x/1", "/x/1"},
		{"Location", "https://api.example.test//other.example.org/x", "/.//other.example.org/x"},
	} {
		r := toldBy(t, tool, 200, "[]", c.name, c.value)
		if len(r.Headers) != 1 || r.Headers[0].Value != c.want {
			t.Errorf("%s: %s is told as %+v, want %q", c.name, c.value, r.Headers, c.want)
		}
	}
}

func TestHostOfOneWordHidesNoPathThatHasTheWord(t *testing.T) {
	for value, want := range map[string]string{
		"/users/5": "/users/5", "users/5": "users/5", "http://users:8080/users/5": "/users/5",
		"//users/users/5":      "/users/5",
		"/r?to=http://users/x": "", "/r?to=users:8080": "",
		"/r?to=http%3A%2F%2Fa@users%2Fx": "", "/r?to=superusers:8": "/r?to=superusers:8",
	} {
		c := serve(t, false, answers(201, "", "Location", value)).caller(t, Config{})
		r, err := c.Call(t.Context(), Upstream{BaseURL: "http://users:8080"}, compile(t, post), nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := append(r.Headers, Header{})[0].Value; got != want {
			t.Errorf("%s is told as %q, want %q", value, got, want)
		}
	}
}

func TestHeaderInLatin1KeepsItsCharacters(t *testing.T) {
	r := toldBy(t, post, 201, "", "Location", "/caf\xe9/1", "Etag", `W/"é"`,
		"Content-Disposition", "attachment; filename=\"caf\xe9.txt\"")
	want := []Header{{"Content-Disposition", `attachment; filename="café.txt"`}, {"Etag", `W/"é"`},
		{"Location", "/caf%E9/1"}}
	if !slices.Equal(r.Headers, want) {
		t.Errorf("told: %+v, want %+v", r.Headers, want)
	}
}

func TestHeaderThatTheDocumentDeclaresIsTold(t *testing.T) {
	tool := post
	tool.Call = &toolplan.Call{Template: "/things", Tells: []string{"x-thing-ID"}}
	if r := toldBy(t, tool, 200, "[]", "X-Thing-Id", "9", "X-Other",
		"1"); texts(r) != "[]\nHeaders of the answer: X-Thing-Id: 9" {
		t.Errorf("told: %q", texts(r))
	}
	for _, name := range []string{"Set-Cookie", "X-Auth-Token", "Server", "a b", ""} {
		tool.Call = &toolplan.Call{Template: "/things", Tells: []string{name}}
		if _, err := Compile(tool); err == nil {
			t.Errorf("%q may be told", name)
		}
	}
}

func TestAcceptHeaderPrefersWhatAnOperationDeclares(t *testing.T) {
	for accept, want := range map[string]string{
		"":                                  "application/json, */*;q=0.8",
		"application/json":                  "application/json, */*;q=0.8",
		"text/csv":                          "text/csv, application/json;q=0.9, */*;q=0.8",
		"application/hal+json;v=2,text/csv": "application/hal+json; v=2, text/csv;q=0.9, */*;q=0.8",
		"application/xml,application/json":  "application/json, application/xml;q=0.9, */*;q=0.8",
		"image/*":                           "image/*, application/json;q=0.9, */*;q=0.8",
	} {
		u := serve(t, false, answers(200, "x"))
		tool := get
		tool.Call = &toolplan.Call{Template: "/x", Accept: accept}
		if _, err := u.caller(t, Config{}).Call(t.Context(), Upstream{BaseURL: base}, compile(t, tool),
			nil); err != nil {
			t.Fatal(err)
		}
		if got := u.only(t).header.Get("Accept"); got != want {
			t.Errorf("%q: Accept: %s, want %s", accept, got, want)
		}
	}
}
