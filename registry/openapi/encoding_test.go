package openapi

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"

	"github.com/keystile/keystile/internal/restcall"
	"github.com/keystile/keystile/storage/toolplan"
)

// encodingVector is an operation of a document, arguments, and what a server reads.
type encodingVector struct {
	ID, Why, Version, Method, Path string
	Operation, Arguments           json.RawMessage
	Expect                         struct {
		Form, Query *readForm
		Parts       []readPart
		Cookies     map[string]string
		Target      *string
		Refused     string
		Skipped     string
		Body        *struct {
			Type   string
			JSON   json.RawMessage
			Base64 *string
		}
	}
}

// readForm says how a server reads a form: flat names, brackets as PHP, Rack and qs have
// them, JSON, or one list with a separator.
type readForm struct {
	Read     string
	Values   map[string]any
	Contains string
}

// A server reads of forms, parts, files and cookies what the document declares. The
// decoders here share nothing with what writes.
func TestEncodingVectors(t *testing.T) {
	var file struct {
		Format  string
		Vectors []json.RawMessage
	}
	read(t, "../../internal/restcall/testdata/encoding.json", &file)
	if len(file.Vectors) < 100 {
		t.Fatalf("%d vectors found, want 100 and more", len(file.Vectors))
	}
	for _, text := range file.Vectors {
		var v encodingVector
		d := json.NewDecoder(bytes.NewReader(text))
		d.DisallowUnknownFields()
		d.UseNumber()
		if err := d.Decode(&v); err != nil {
			t.Fatal(err)
		}
		t.Run(v.ID, v.run)
	}
}

func (v encodingVector) run(t *testing.T) {
	key := "openapi"
	if v.Version == "2.0" {
		key = "swagger"
	}
	result := parsed(t, encode(t, map[string]any{key: v.Version,
		"paths": map[string]any{v.Path: map[string]any{v.Method: v.Operation}}}), Options{})
	lost := losses(result.Skipped)
	if want := v.Expect.Skipped; want != "" && (len(lost) != 1 || !strings.HasSuffix(lost[0].Pointer, want)) ||
		want == "" && lost != nil {
		t.Errorf("skipped = %v, want %q", lost, want)
	}
	sound(t, result.Tools[0])
	plan, err := restcall.Compile(result.Tools[0])
	if err != nil {
		t.Fatal(err)
	}
	var got *http.Request
	var body []byte
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		got = r
		body, _ = io.ReadAll(r.Body)
	}))
	defer server.Close()
	caller, err := restcall.New(restcall.Config{Transport: server.Client().Transport})
	if err != nil {
		t.Fatal(err)
	}
	message, err := caller.Call(t.Context(), restcall.Upstream{BaseURL: server.URL + "/base"}, plan, v.Arguments)
	if err != nil {
		t.Fatal(err)
	}
	if want := v.Expect.Refused; want != "" {
		if got != nil || !message.IsError || !strings.Contains(message.Content[0].Text, want) {
			t.Errorf("sent = %t, the result is %+v, want it refused: %s", got != nil, message, want)
		}
		return
	}
	if got == nil {
		t.Fatalf("nothing was sent: %+v", message)
	}
	v.check(t, got, body)
}

func (v encodingVector) check(t *testing.T, r *http.Request, body []byte) {
	kind := r.Header.Get("Content-Type")
	checked := 0
	if f := v.Expect.Form; f != nil {
		checked++
		if kind != "application/x-www-form-urlencoded" || !strings.Contains(string(body), f.Contains) {
			t.Errorf("the body is %q as %s, want %q in a form", body, kind, f.Contains)
		}
		f.check(t, string(body))
	}
	if f := v.Expect.Query; f != nil {
		checked++
		f.check(t, r.URL.RawQuery)
	}
	if v.Expect.Parts != nil {
		checked++
		checkParts(t, kind, body, v.Expect.Parts)
	}
	if want := v.Expect.Cookies; want != nil {
		checked++
		got := map[string]string{}
		for _, c := range r.Cookies() {
			got[c.Name] = c.Value
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("the cookies are %q, want %q", got, want)
		}
	} else if r.Header.Get("Cookie") != "" {
		t.Errorf("the cookies are %q, want none", r.Header.Get("Cookie"))
	}
	if want := v.Expect.Target; want != nil {
		checked++
		if r.RequestURI != *want {
			t.Errorf("the target is %s, want %s", r.RequestURI, *want)
		}
	}
	if want := v.Expect.Body; want != nil {
		checked++
		if kind != want.Type {
			t.Errorf("the type is %q, want %q", kind, want.Type)
		}
		checkBytes(t, body, nil, want.Base64, want.JSON)
	}
	if checked == 0 {
		t.Error("the vector expects nothing")
	}
}

func (f readForm) check(t *testing.T, text string) {
	t.Helper()
	got := map[string]any{}
	for pair := range strings.SplitSeq(text, "&") {
		name, raw, _ := strings.Cut(pair, "=")
		key, value := unescaped(t, name), unescaped(t, raw)
		switch f.Read {
		case "flat":
			list, _ := got[key].([]any)
			got[key] = append(list, value)
		case "brackets":
			into(got, key, value)
		case "json":
			var v any
			decode(t, []byte(value), &v)
			got[key] = v
		case "jsons":
			var v any
			decode(t, []byte(value), &v)
			list, _ := got[key].([]any)
			got[key] = append(list, v)
		default:
			var list []any
			for one := range strings.SplitSeq(raw, f.Read) {
				list = append(list, unescaped(t, one))
			}
			if got[key] != nil {
				t.Errorf("%s is there twice in %q", key, text)
			}
			got[key] = list
		}
	}
	want := map[string]any{}
	for name, v := range f.Values {
		want[name] = v
	}
	if f.Read == "brackets" {
		for name := range got {
			got[name] = lists(got[name])
		}
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("a server reads %v in %q, want %v", got, text, want)
	}
}

// losses returns what was left out, but for what documents have everywhere.
func losses(skipped []toolplan.Skip) (out []toolplan.Skip) {
	for _, s := range skipped {
		if !s.Usual {
			out = append(out, s)
		}
	}
	return out
}
