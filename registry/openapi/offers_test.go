package openapi

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/keystile/keystile/internal/restcall"
	"github.com/keystile/keystile/storage/toolplan"
)

// media is the content of a request body: media types in quotes, and their media type objects.
type media = map[string]json.RawMessage

const (
	anObjectOf  = `{"schema":{"type":"object","properties":{"a":{"type":"string"}}}}`
	anyObject   = `{"schema":{"type":"object"}}`
	aListOf     = `{"schema":{"type":"array","items":{"type":"object"}}}`
	someBytes   = `{"schema":{"type":"string","format":"binary"}}`
	someText    = `{"schema":{"type":"string"}}`
	nothingSaid = `{}`
	aFileOf     = `{"schema":{"type":"object","properties":{"f":{"type":"string","format":"binary"}}}}`
)

// withContent is a document of one operation that patches.
func withContent(t *testing.T, version string, content any) *Result {
	t.Helper()
	return parsed(t, encode(t, map[string]any{
		"openapi": version, "paths": map[string]any{"/a": map[string]any{"patch": map[string]any{"operationId": "a",
			"requestBody": map[string]any{"content": content}}}},
	}), Options{})
}

func TestMediaTypeThatSuitsTheSchemaIsSent(t *testing.T) {
	for _, c := range []struct {
		why     string
		content map[string]string
		want    string
	}{
		{"Kubernetes: an object is a merge patch", map[string]string{
			"application/json-patch+json": anyObject, "application/merge-patch+json": anyObject,
			"application/strategic-merge-patch+json": anyObject, "application/apply-patch+yaml": anyObject,
		}, "application/merge-patch+json"},
		{"a strategic merge patch comes last", map[string]string{"application/strategic-merge-patch+json": anyObject,
			"application/vnd.x+json": anyObject}, "application/vnd.x+json"},
		{"and before a list that the schema does not have",
			map[string]string{"application/strategic-merge-patch+json": anyObject,
				"application/json-patch+json": anyObject},
			"application/strategic-merge-patch+json"},
		{"a list is a JSON patch", map[string]string{"application/json-patch+json": aListOf,
			"application/merge-patch+json": anyObject}, "application/json-patch+json"},
		{"each by its own schema", map[string]string{"application/json-patch+json": aListOf,
			"application/merge-patch+json": aListOf}, "application/json-patch+json"},
		{"JSON comes first", map[string]string{"application/json-patch+json": aListOf, "application/json": anObjectOf},
			"application/json"},
		{"the later version", map[string]string{"application/vnd.x.v1+json": anObjectOf,
			"application/vnd.x.v2+json": anObjectOf}, "application/vnd.x.v2+json"},
		{"by the number, not by the digits", map[string]string{"application/vnd.x.v9+json": anObjectOf,
			"application/vnd.x.v10+json": anObjectOf}, "application/vnd.x.v10+json"},
		{"of parameters too", map[string]string{"application/json;version=1": anObjectOf,
			"application/json; version=2": anObjectOf}, "application/json; version=2"},
		{"without parameters first", map[string]string{"application/json;version=1": anObjectOf,
			"application/json": anObjectOf}, "application/json"},
		{"errors are no requests", map[string]string{"application/problem+json": anObjectOf,
			"application/vnd.z+json": anObjectOf}, "application/vnd.z+json"},
		{"nor before a form", map[string]string{"application/problem+json": anObjectOf,
			"application/x-www-form-urlencoded": anObjectOf}, "application/x-www-form-urlencoded"},
		{"a form for what has files", map[string]string{"application/x-www-form-urlencoded": aFileOf,
			"multipart/form-data": aFileOf}, "multipart/form-data"},
		{"JSON has no files either", map[string]string{"application/json": aFileOf, "multipart/form-data": aFileOf},
			"multipart/form-data"},
		{"of a choice too", map[string]string{
			"application/x-www-form-urlencoded": `{"schema":{"oneOf":[` + aFileOf[len(`{"schema":`):len(aFileOf)-1] +
				`,{"type":"object"}]}}`,
			"multipart/form-data": aFileOf,
		}, "multipart/form-data"},
		{"but another schema", map[string]string{"application/json": anObjectOf, "multipart/form-data": aFileOf},
			"application/json"},
		{"bytes are no JSON", map[string]string{"application/json": someBytes, "application/octet-stream": someBytes},
			"application/octet-stream"},
		{"a range of forms", map[string]string{"multipart/*": aFileOf}, "multipart/form-data"},
		{"a range of texts", map[string]string{"text/*": someText}, "text/plain"},
		{"a range of JSON", map[string]string{"application/*+json": anObjectOf}, "application/json"},
		{"a range, of an object", map[string]string{"*/*": anObjectOf}, "application/json"},
		{"a range, of a text", map[string]string{"*/*": someText}, "text/plain"},
		{"parameters are part of it", map[string]string{"application/json;okta-version=1.0.0": anObjectOf},
			"application/json; okta-version=1.0.0"},
		{"charset is not", map[string]string{"Application/JSON; Charset=UTF-8; profile=\"A b;c\"": anObjectOf},
			`application/json; profile="A b;c"`},
		{"nor is a boundary", map[string]string{"multipart/form-data; boundary=x": aFileOf}, "multipart/form-data"},
		{"of a form too", map[string]string{"application/x-www-form-urlencoded; charset=utf-8": anObjectOf},
			"application/x-www-form-urlencoded"},
	} {
		r := withContent(t, "3.0.3", raws(c.content))
		if got := r.Tools[0].Call.Body.ContentType; got != c.want || losses(r.Skipped) != nil {
			t.Errorf("%s: %s is sent, with %v left out, want %s", c.why, got, r.Skipped, c.want)
		}
		sound(t, r.Tools[0])
	}
}

func TestMediaTypeWithAMistakeIsReadUpToIt(t *testing.T) {
	for key, want := range map[string]string{
		"application/json, text/json": "application/json", "application/json,": "application/json",
		"application/vnd.x+json application/json": "application/vnd.x+json",
		"application/json; charset":               "application/json",
		"application/json;v=1;=2":                 "application/json; v=1",
		"text/json\"":                             "text/json",
		"application/json;v=1, application/json": "application/json; " +
			"v=1",
		"application/json; charset=utf-8, text/json": "application/json",
	} {
		r := withContent(t, "3.0.3", map[string]json.RawMessage{key: json.RawMessage(anObjectOf)})
		body := r.Tools[0].Call.Body
		if body == nil || body.ContentType != want || len(body.Fields) != 1 {
			t.Errorf("%q: the body is %+v, want %s with its field", key, body, want)
		}
		if len(losses(r.Skipped)) != 1 || !strings.HasSuffix(r.Skipped[0].Pointer, pointer(key)) ||
			!strings.Contains(r.Skipped[0].Reason, want) {
			t.Errorf("%q: %v is listed, want the key and %s", key, r.Skipped, want)
		}
	}
	r := withContent(t, "3.0.3", map[string]json.RawMessage{"nonsense": json.RawMessage(anObjectOf)})
	if r.Tools[0].Call.Body != nil || len(losses(r.Skipped)) != 2 {
		t.Errorf("a key that is no media type: %+v, with %v left out", r.Tools[0].Call.Body, r.Skipped)
	}
	old := parsed(t,
		[]byte(`{"swagger":"2.0","consumes":["application/json, text/json"],`+
			`"paths":{"/a":{"post":{"parameters":[{"in":"body","name":"b","schema":{"properties":{"a":{}}}}]}}}}`),
		Options{})
	if body := old.Tools[0].Call.Body; body.ContentType != "application/json" || len(old.Skipped) != 1 ||
		old.Skipped[0].Pointer != "/consumes/0" {
		t.Errorf("2.0: %+v with %v left out", body, old.Skipped)
	}
}

func TestMediaTypesThatAreNotSentAreListed(t *testing.T) {
	r := withContent(t, "3.0.3", raws(map[string]string{"application/json": anObjectOf, "application/xml": anObjectOf,
		"multipart/form-data": aFileOf, "text/plain": `7`}))
	old := parsed(t,
		[]byte(`{"swagger":"2.0","consumes":["application/json","application/xml"],`+
			`"paths":{"/a":{"post":{"parameters":[`+
			`{"in":"body","name":"b","schema":{"properties":{"a":{}}}}]},"put":{`+
			`"consumes":["multipart/form-data","application/x-www-form-urlencoded"],`+
			`"parameters":[{"in":"formData","name":"f","type":"file"}]}}}}`), Options{})
	for got, want := range map[*Result][]string{
		r: {"text~1plain not a media type object",
			"application~1xml a body may be sent as application/xml too: it is sent as application/json",
			"multipart~1form-data a body"},
		old: {"/consumes/1 a body may be sent as application/xml too",
			"put/consumes/1 a body may be sent as application/x-www-form-urlencoded too: it is sent as " +
				"multipart/form-data"},
	} {
		said := ""
		for _, s := range got.Skipped {
			said += s.Pointer + " " + s.Reason + "\n"
		}
		for _, line := range want {
			if len(got.Skipped) != len(want) || !strings.Contains(said, line) {
				t.Errorf("%slisted, want %s", said, line)
			}
		}
	}
}

func TestBytesGoOutAsBytesWithTheirType(t *testing.T) {
	png := "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR"
	b64 := func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }
	url := func(media, s string) string { return "data:" + media + ";base64," + b64(s) }
	for _, c := range []struct {
		why      string
		content  map[string]string
		body     any
		want, as string // "": refused with want
	}{
		{"3.1 without a schema", map[string]string{"application/octet-stream": nothingSaid}, b64(png), png,
			"application/octet-stream"},
		{"an image without a schema", map[string]string{"image/png": nothingSaid}, b64(png), png, "image/png"},
		{"a PDF", map[string]string{"application/pdf": nothingSaid}, b64("%PDF-1"), "%PDF-1", "application/pdf"},
		{"a type nobody knows", map[string]string{"application/vnd.x": nothingSaid}, b64(png), png,
			"application/vnd.x"},
		{"a type nobody knows, of a text", map[string]string{"application/vnd.x": someText}, "AP8=", "AP8=",
			"application/vnd.x"},
		{"base64 is what is sent",
			map[string]string{"image/png": `{"schema":{"type":"string","contentEncoding":"base64"}}`}, "AP8=", "AP8=",
			"image/png"},
		{"any type is an octet stream", map[string]string{"application/octet-stream": someBytes}, url("image/png", png),
			png, "application/octet-stream"},
		{"another type is none", map[string]string{"image/png": someBytes}, url("image/jpeg", png),
			"must be of type image/png", ""},
		{"a range, by the bytes", map[string]string{"image/*": someBytes}, b64(png), png, "image/png"},
		{"a range, by the URL", map[string]string{"image/*": someBytes}, url("image/svg+xml", "<svg/>"), "<svg/>",
			"image/svg+xml"},
		{"a range, by the object", map[string]string{"image/*": nothingSaid}, map[string]string{"data": b64("??"),
			"type": "image/heic"}, "??", "image/heic"},
		{"a range, of another type", map[string]string{"image/*": someBytes}, url("text/plain", "x"),
			"must be of type image/*", ""},
		{"any range, by the bytes", map[string]string{"*/*": someBytes}, b64("GIF89a"), "GIF89a", "image/gif"},
		{"any range, by the URL", map[string]string{"*/*": someBytes}, url("application/zip", "PK"), "PK",
			"application/zip"},
		{"a range of texts, of bytes", map[string]string{"text/*": someBytes}, url("text/csv", "a,b"), "a,b",
			"text/csv"},
		{"a range of texts", map[string]string{"text/*": someText}, "AP8=", "AP8=", "text/plain"},
		{"anything: a text", map[string]string{"*/*": nothingSaid}, "AP8=", "AP8=", "text/plain"},
		{"anything: JSON", map[string]string{"*/*": nothingSaid}, map[string]int{"a": 1}, `{"a":1}`,
			"application/json"},
		{"anything: bytes", map[string]string{"*/*": nothingSaid}, url("image/png", png), png, "image/png"},
		{"any application: JSON", map[string]string{"application/*": nothingSaid}, "x", `"x"`, "application/json"},
		{"any application: bytes", map[string]string{"application/*": someBytes}, b64("%PDF-1.7"), "%PDF-1.7",
			"application/pdf"},
		{"of several the bytes decide", map[string]string{"image/gif": someBytes, "image/jpeg": someBytes,
			"image/png": someBytes}, b64(png), png, "image/png"},
		{"not the alphabet", map[string]string{"image/gif": someBytes, "image/jpeg": someBytes, "image/png": someBytes},
			b64("\xff\xd8\xff\xe0"), "\xff\xd8\xff\xe0", "image/jpeg"},
		{"or what is said of them", map[string]string{"audio/flac": nothingSaid, "audio/mpeg": nothingSaid},
			url("audio/mpeg", "?"), "?", "audio/mpeg"},
		{"a stream of what nobody knows", map[string]string{"application/octet-stream": nothingSaid,
			"image/png": nothingSaid, "application/gzip": nothingSaid}, b64("\x00\x01"), "\x00\x01",
			"application/octet-stream"},
		{"a text or bytes: a text", map[string]string{"text/plain": someText, "application/octet-stream": someBytes},
			"AP8=", "AP8=", "text/plain"},
		{"a text or bytes: bytes", map[string]string{"text/plain": someText, "application/octet-stream": someBytes},
			url("",
				png), png, "application/octet-stream"},
	} {
		r := withContent(t, "3.1.0", raws(c.content))
		sound(t, r.Tools[0])
		body, contentType, refused := send(t, r.Tools[0], encode(t, map[string]any{"body": c.body}))
		if c.as == "" {
			if !strings.Contains(refused, c.want) {
				t.Errorf("%s: %q as %s is sent, %s, want it refused: %s", c.why, body, contentType, refused, c.want)
			}
			continue
		}
		if body != c.want || contentType != c.as || refused != "" {
			t.Errorf("%s: %q as %s %s, want %q as %s", c.why, body, contentType, refused, c.want, c.as)
		}
	}
}

// raws holds what stands under each media type.
func raws(content map[string]string) media {
	out := media{}
	for key, of := range content {
		out[key] = json.RawMessage(of)
	}
	return out
}

// send calls a tool and returns the body that arrives and its type, or why nothing does.
func send(t *testing.T, tool toolplan.Tool, arguments []byte) (body, contentType, refused string) {
	t.Helper()
	plan, err := restcall.Compile(tool)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		text, _ := io.ReadAll(r.Body)
		body, contentType = string(text), r.Header.Get("Content-Type")
	}))
	defer server.Close()
	caller, err := restcall.New(restcall.Config{Transport: server.Client().Transport})
	if err != nil {
		t.Fatal(err)
	}
	result, err := caller.Call(t.Context(), restcall.Upstream{BaseURL: server.URL}, plan, arguments)
	if err != nil {
		t.Fatal(err)
	}
	if result.IsError {
		refused = fmt.Sprint(result.Content)
	}
	return body, contentType, refused
}
