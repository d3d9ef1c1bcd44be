package openapi

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"io"
	"mime"
	"mime/multipart"
	"net/url"
	"reflect"
	"strconv"
	"strings"
	"testing"
)

type readPart struct {
	Name, Filename, Type string
	Text, Base64         *string
	JSON                 json.RawMessage
	Headers              map[string]string
}

func unescaped(t *testing.T, text string) string {
	t.Helper()
	plain, err := url.QueryUnescape(text)
	if err != nil {
		t.Errorf("%q: %v", text, err)
	}
	return plain
}

// into puts a value where a name with brackets says, as PHP does: [] is the next number.
func into(root map[string]any, name, value string) {
	first, rest, _ := strings.Cut(name, "[")
	keys := []string{first}
	if rest != "" {
		keys = append(keys, strings.Split(strings.TrimSuffix(rest, "]"), "][")...)
	}
	at := root
	for i, key := range keys {
		if key == "" {
			key = strconv.Itoa(len(at))
		}
		if i == len(keys)-1 {
			at[key] = value
			return
		}
		inner, _ := at[key].(map[string]any)
		if inner == nil {
			inner = map[string]any{}
			at[key] = inner
		}
		at = inner
	}
}

// lists makes lists of what is numbered from 0, as servers do.
func lists(v any) any {
	object, is := v.(map[string]any)
	if !is {
		return v
	}
	var list []any
	for i := range len(object) {
		if inner, there := object[strconv.Itoa(i)]; there {
			list = append(list, lists(inner))
		}
	}
	if len(list) == len(object) {
		return list
	}
	for key, inner := range object {
		object[key] = lists(inner)
	}
	return object
}

func checkParts(t *testing.T, kind string, body []byte, want []readPart) {
	t.Helper()
	media, params, err := mime.ParseMediaType(kind)
	if err != nil || media != "multipart/form-data" {
		t.Fatalf("the body is %s, want a multipart", kind)
	}
	r := multipart.NewReader(bytes.NewReader(body), params["boundary"])
	for i := 0; ; i++ {
		p, err := r.NextRawPart()
		if err == io.EOF {
			if i != len(want) {
				t.Errorf("%d parts arrived, want %d", i, len(want))
			}
			return
		}
		if err != nil || i >= len(want) {
			t.Fatalf("part %d: %v in %q", i, err, body)
		}
		content, _ := io.ReadAll(p)
		w := want[i]
		if p.FormName() != w.Name || p.FileName() != w.Filename || p.Header.Get("Content-Type") != w.Type {
			t.Errorf("part %d is %q, file %q, type %q; want %+v", i, p.FormName(), p.FileName(),
				p.Header.Get("Content-Type"), w)
		}
		for name, value := range w.Headers {
			if p.Header.Get(name) != value {
				t.Errorf("part %d has %s %q, want %q", i, name, p.Header.Get(name), value)
			}
		}
		known := 1 + len(w.Headers) // with Content-Disposition
		if w.Type != "" {
			known++
		}
		if len(p.Header) != known {
			t.Errorf("part %d has the headers %v, want no others than %v", i, p.Header, w.Headers)
		}
		checkBytes(t, content, w.Text, w.Base64, w.JSON)
	}
}

func checkBytes(t *testing.T, got []byte, text, blob *string, value json.RawMessage) {
	t.Helper()
	switch {
	case text != nil:
		if string(got) != *text {
			t.Errorf("the content is %q, want %q", got, *text)
		}
	case blob != nil:
		if base64.StdEncoding.EncodeToString(got) != *blob {
			t.Errorf("the content is %q, want %s in base64", got, *blob)
		}
	default:
		var a, b any
		decode(t, got, &a)
		decode(t, value, &b)
		if !reflect.DeepEqual(a, b) {
			t.Errorf("the content is %s, want %s", got, value)
		}
	}
}
