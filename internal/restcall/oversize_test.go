package restcall

import (
	"net/http"
	"reflect"
	"strings"
	"testing"

	"github.com/keystile/keystile/storage"
)

// tooMuch answers with more than the ten bytes that the tests of this file let through.
func tooMuch(status int, header ...string) http.HandlerFunc {
	return answers(status, "01234567890", append(header, "Content-Type", "text/csv; charset=utf-8")...)
}

func TestOversizeAnswerIsReportedWithItsSize(t *testing.T) {
	const ask = "so none of it is shown: ask for less, with a filter, fewer fields or smaller pages"
	for name, c := range map[string]struct {
		answer http.HandlerFunc
		text   string
	}{
		"announced": {tooMuch(200), "HTTP 200 OK, with an answer of 11 bytes, and at most 10 bytes are passed on, " +
			ask},
		"chunked": {func(w http.ResponseWriter, r *http.Request) { w.(http.Flusher).Flush(); tooMuch(200)(w, r) },
			"HTTP 200 OK, with an answer of more than 10 bytes, and no more is passed on, " + ask},
		"as UTF-8": {answers(200, strings.Repeat("\xe4", 6), "Content-Type", "text/plain; charset=iso-8859-1"),
			"HTTP 200 OK, with an answer of more than 10 bytes, and no more is passed on, " + ask},
		"a refusal": {tooMuch(422, "Content-Location", "https://files.example.org/a"),
			"HTTP 422 Unprocessable Entity, with an answer of 11 bytes, and at most 10 bytes are passed on, " + ask +
				"\nHeaders of the answer: Content-Location: https://files.example.org/a"},
		"a failure": {tooMuch(500),
			"HTTP 500 Internal Server Error, with an answer of 11 bytes, and at most 10 bytes are passed on, " + ask},
		"just right": {answers(200, "0123456789", "Content-Type", "text/csv"), "0123456789"},
	} {
		r := called(t, Config{MaxResponse: 10}, c.answer)
		if fits := name == "just right"; r.IsError == fits || len(r.Content) != 1 || texts(r) != c.text ||
			(r.Cause == nil) != fits || strings.Contains(texts(r), "012345678") != fits {
			t.Errorf("%s: %+v, want %q", name, r, c.text)
		}
	}
}

func TestOversizeAnswerIsReportedWithItsURLIfThereIsOne(t *testing.T) {
	const place = "https://files.example.org/a.csv?sig=x%2By"
	for name, header := range map[string][]string{
		"Content-Location":       {"Content-Location", place, "Location", "https://other.example.org/"},
		"Location":               {"Location", place},
		"a bad Content-Location": {"Content-Location", "/a.csv", "Location", place},
		"Link":                   {"Link", `<https://other.example.org/>; rel="next", <` + place + `>; type="text/csv"; rel="up Alternate"`},
		"Link without quotes":    {"Link", "<" + place + ">;rel=self"},
	} {
		r := called(t, Config{MaxResponse: 10}, tooMuch(200, header...))
		link := Content{Type: "resource_link", MIMEType: "text/csv",
			Link: &Link{URI: place, Name: "answer", Description: "the whole answer, as its upstream offers it", Size: 11}}
		if r.IsError || r.Cause != nil || len(r.Content) != 2 || !strings.Contains(r.Content[0].Text,
			"the upstream offers it at the link that follows") || !reflect.DeepEqual(r.Content[1], link) {
			t.Errorf("%s: %+v, want a link to %s", name, r, place)
		}
	}
	r := called(t, Config{MaxResponse: 10}, func(w http.ResponseWriter, q *http.Request) {
		w.Header().Set("Location", place)
		w.(http.Flusher).Flush()
		tooMuch(200)(w, q)
	})
	if r.IsError || len(r.Content) != 2 || r.Content[1].Size != 0 || r.Content[1].URI != place {
		t.Errorf("of unknown size: %+v", r)
	}
}

// A place that an upstream names may be internal, or hold its secret. Neither is told.
func TestURLsThatAreNotForTheCallerAreNotShown(t *testing.T) {
	const secret = "sk-live-0123456789"
	for _, place := range []string{
		"", "/a.csv", "//files.example.org/a", "files.example.org/a", "ftp://files.example.org/a", "file:///etc/passwd",
		"javascript:alert(1)", "data:text/plain,x",
		"https://user:pass@files.example.org/", "https://files.example.org/#x", "https://files.example.org/ a",
		"https://files.example.org/" + strings.Repeat("x", 2048),
		base + "/a.csv", "https://API.example.test./a",
		"https://cdn.example.org/?from=http%3A%2F%2Fapi.example.test%3A8080%2Fa",
		"https://cdn.example.org/?from=http%253A%252F%252FAPI.example.test%252Fa",
		"https://cdn.example.org/api.example.test/a",
		"http://10.0.0.1/a", "http://169.254.169.254/", "http://[fd00::1]/", "http://8.8.8.8/", "http://2130706433/",
		"http://0x7f.1/", "http://files/a", "http://localhost/a", "http://files.internal/a", "http://nas.local/a",
		"http://a.home.arpa/", "http://a.lan./",
		"https://files.example.org/?key=" + secret, "https://files.example.org/?key=%73k-live-0123456789",
		"https://files.example.org/?key=c2stbGl2ZS0wMTIzNDU2Nzg5",
	} {
		for _, header := range [][]string{{"Content-Location", place}, {"Location", place}, {"Link", "<" + place + `>; rel="alternate"`}} {
			u := serve(t, false, tooMuch(200, header...))
			r, err := u.caller(t, Config{MaxResponse: 10}).Call(t.Context(),
				Upstream{BaseURL: base, AuthType: "bearer", Secret: storage.NewSecret(secret)}, compile(t, get), nil)
			if err != nil || !r.IsError || len(r.Content) != 1 || strings.Contains(texts(r), "link") {
				t.Errorf("%s %s: %+v, %v", header[0], place, r, err)
			}
		}
	}
	for _, link := range []string{`<https://files.example.org/a>`, `<https://files.example.org/a>; rel=next`, `https://files.example.org/a; rel=self`, `<https://files.example.org/a`, `<https://files.example.org/a>; rel=next; rel=self`, "<>; rel=self", "<<<<", `; rel=self`} {
		if r := called(t, Config{MaxResponse: 10}, tooMuch(200, "Link", link)); !r.IsError || len(r.Content) != 1 {
			t.Errorf("Link %s: %+v", link, r)
		}
	}
	r := called(t, Config{MaxResponse: 10}, func(w http.ResponseWriter, q *http.Request) {
		w.Header()["Content-Location"] = []string{"https://a.example.org/", "https://b.example.org/"}
		tooMuch(200)(w, q)
	})
	if !r.IsError || len(r.Content) != 1 {
		t.Errorf("of two places one is chosen: %+v", r)
	}
}

// A call that changed something must not be repeated for the sake of its answer.
func TestOversizeAnswerTellsTheModelThatTheCallWasMade(t *testing.T) {
	const done = "The call was carried out: do not repeat it to see its answer"
	for _, c := range []struct {
		method string
		status int
		want   bool
	}{{"post", 201, true}, {"delete", 200, true}, {"get", 200, false}, {"post", 500, false}} {
		u := serve(t, false, tooMuch(c.status))
		r, err := u.caller(t, Config{MaxResponse: 10}).Call(t.Context(), Upstream{BaseURL: base},
			compile(t, tool(c.method, "/pets", "", nil, nil)), nil)
		if err != nil || !r.IsError || strings.Contains(texts(r), done) != c.want {
			t.Errorf("%s %d: %+v, %v", c.method, c.status, r, err)
		}
	}
}
