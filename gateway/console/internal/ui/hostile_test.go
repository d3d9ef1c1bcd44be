package ui

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/keystile/keystile/internal/reply"
)

// kinds of fields, one of each.
var oneOfEach = map[string]Kind{"text": Text, "optional": Optional, "lines": Lines, "bool": Bool, "number": Number,
	"json": JSON, "choices": Choices}

// hostileTexts hold texts that nobody types by accident.
var hostileTexts = []string{
	"", "\x00", "\xff\xfe\xfd", "a\x00b", "\u202etxt.exe", "\u2066x\u2069", "{", "[[[[", strings.Repeat("[", 20_000),
	"1e999999", "-", "\r\n\r\n", strings.Repeat("9", 4000),
	"%00", "<script>", "{{.}}", "null", "true false", "\ufeff1", "\"", "\\u0000", "NaN", strings.Repeat("\n", 50_000),
}

// Any field of a form becomes JSON that can be read, or a refusal that says which field is wrong.
func TestHostileFieldsAreFieldsOrARefusal(t *testing.T) {
	for _, text := range hostileTexts {
		form := url.Values{}
		for name := range oneOfEach {
			form[name] = []string{text, "a second one"}
		}
		f, err := FieldsOf(form, oneOfEach)
		if err != nil {
			if failure := reply.FailureOf(err); failure.Status != http.StatusBadRequest ||
				!strings.Contains(failure.Msg, "is not") {
				t.Errorf("%.20q: %v", text, err)
			}
			continue
		}
		var first string
		if err := f.Read("text", "a text", &first); err != nil || strings.Contains(first, "second") {
			t.Errorf("%.20q is read as %q %v: of two fields the first counts", text, first, err)
		}
		var all []string
		if err := f.Texts("choices", &all); err == nil && len(all) != 2 {
			t.Errorf("%.20q: chosen are %q", text, all)
		}
	}
	if f, err := FieldsOf(url.Values{"owner": {"eve"}}, map[string]Kind{"name": Text}); err != nil || len(f) != 1 {
		t.Errorf("a field that nobody asked for is read: %v %v", f, err)
	}
}

// A form is read within its bound, and never fails otherwise than with a refusal.
func TestHostileFormsAreReadWithinTheirBound(t *testing.T) {
	many := strings.Repeat("a=1&", 30_000)
	var names strings.Builder
	for i := range 20_000 {
		fmt.Fprintf(&names, "n%d=&", i)
	}
	const form, upload = "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"
	part := "--x\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n1\r\n"
	for name, c := range map[string]struct {
		kind, body string
		ok         bool
	}{
		"one field":             {form, "do=x&form=y", true},
		"a field often":         {form, "do=x&" + strings.Repeat("do=y&", 1000), true},
		"too many fields":       {form, many, false},
		"too many names":        {form, names.String(), false},
		"too long a field":      {form, "a=" + strings.Repeat("x", maxForm), false},
		"a broken escape":       {form, "a=%zz", false},
		"a semicolon":           {form, "a=1;b=2", false},
		"NUL and no UTF-8":      {form, "a=%00%ff", true},
		"an upload":             {upload, part + "--x--\r\n", true},
		"too many parts":        {upload, strings.Repeat(part, 2000) + "--x--\r\n", false},
		"an upload without end": {upload, part, false},
		"no boundary":           {"multipart/form-data", "x", false},
	} {
		r := httptest.NewRequest("POST", "/console/x", strings.NewReader(c.body))
		r.Header.Set("Content-Type", c.kind)
		err := readForm(httptest.NewRecorder(), r, maxForm)
		if (err == nil) != c.ok {
			t.Errorf("%s: %v", name, err)
		}
		var f *reply.Failure
		if err != nil && (!errors.As(err, &f) || f.Status != http.StatusBadRequest) {
			t.Errorf("%s is no refusal: %v", name, err)
		}
	}
}

// An address is written anew from its query, however that reads: it stays on its page.
func TestAddressWithAHostileQueryLeadsNowhereElse(t *testing.T) {
	for _, text := range hostileTexts {
		u := &url.URL{Path: "/console/apps", RawQuery: text + "&next=//evil.example&after=" + text}
		got, err := url.Parse(With(u, "q", text))
		if err != nil || got.Host != "" || got.Path != "/console/apps" || got.Query().Has("after") ||
			got.Query().Get("q") != text {
			t.Errorf("%.20q leads to %v %v", text, got, err)
		}
	}
}
