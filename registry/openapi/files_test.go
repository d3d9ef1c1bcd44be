package openapi

import (
	"bytes"
	"encoding/json"
	"io"
	"mime"
	"mime/multipart"
	"strings"
	"testing"
)

// filePart holds what an upload endpoint reads of a part: FastAPI, Django and multer take one with a file name for a
// file.
type filePart struct{ name, file, kind, text string }

func filesOf(t *testing.T, body, contentType string) (out []filePart) {
	t.Helper()
	_, params, err := mime.ParseMediaType(contentType)
	if err != nil {
		t.Fatalf("%q: %v", contentType, err)
	}
	r := multipart.NewReader(strings.NewReader(body), params["boundary"])
	for {
		p, err := r.NextRawPart()
		if err == io.EOF {
			return out
		}
		if err != nil {
			t.Fatal(err)
		}
		text, _ := io.ReadAll(p)
		out = append(out, filePart{p.FormName(), p.FileName(), p.Header.Get("Content-Type"), string(text)})
	}
}

func TestFieldOfAFormIsAFileHoweverItSaysSo(t *testing.T) {
	url := "data:image/png;name=a.png;base64,AP8="
	text := filePart{"f", "", "", "AP8="}
	stream, image, named := filePart{"f", "f", "application/octet-stream", "\x00\xff"}, filePart{"f", "f.png",
		"image/png", "\x00\xff"}, filePart{"f", "a.png", "image/png", "\x00\xff"}
	for _, c := range []struct {
		why, version, schema, encoding string
		value                          any
		want                           filePart
	}{
		{"one branch of many", "3.1.0", `{"anyOf":[{"type":"null"},{"$ref":"#/components/schemas/F"}]}`, ``, "AP8=",
			stream},
		{"a choice within a choice", "3.0.3",
			`{"oneOf":[{"anyOf":[{"type":"string","format":"binary"}]}],"nullable":true}`,
			``, "AP8=", stream},
		{"what stands around a choice", "3.1.0", `{"type":"string","oneOf":[{"format":"binary"},{"type":"null"}]}`, ``,
			"AP8=", stream},
		{"allOf of a choice", "3.1.0",
			`{"allOf":[{"anyOf":[{"$ref":"#/components/schemas/F"},{"type":"null"}]}],"title":"F"}`, ``, "AP8=",
			stream},
		{"a reference to a reference", "3.0.3", `{"$ref":"#/components/schemas/G"}`, ``, "AP8=", stream},
		{"a longer text than its bytes may be", "3.0.3", `{"type":"string","format":"binary","maxLength":2}`, ``,
			"AP8=",
			stream},
		{"file, in 3.0", "3.0.3", `{"type":"file"}`, ``, "AP8=", stream},
		{"a content encoding that is none", "3.1.0",
			`{"type":"string","contentMediaType":"image/png","contentEncoding":"binary"}`, ``, "AP8=", image},
		{"the type of the encoding", "3.0.3", `{"type":"string"}`, `{"contentType":"image/png, image/jpeg"}`, "AP8=",
			filePart{"f", "f.png", "image/png", "\x00\xff"}},
		{"the encoding of what says nothing", "3.1.0", `{}`, `{"contentType":"image/png"}`, "AP8=", image},
		{"a list by its encoding", "3.0.3", `{"type":"array","items":{"type":"string"}}`, `{"contentType":"image/png"}`,
			[]string{"AP8="}, image},
		{"what says nothing", "3.1.0", `{}`, ``, url, named},
		{"elements of which nothing is said", "3.1.0", `{"type":"array","items":{}}`, ``, []string{url}, named},
		{"what says nothing, as a text", "3.1.0", `{}`, ``, "AP8=", text},
		{"a file or an address", "3.1.0",
			`{"anyOf":[{"type":"string","format":"uri"},{"type":"string","format":"binary"}]}`, ``, url, named},
		{"a file or an address, as a text", "3.1.0",
			`{"anyOf":[{"type":"string","format":"uri"},{"type":"string","format":"binary"}]}`, ``, "AP8=", text},
		{"a text of base64", "3.1.0", `{"type":"string","contentMediaType":"image/png","contentEncoding":"base64"}`, ``,
			"AP8=", text},
		{"a text of base64 by its format", "3.0.3", `{"type":"string","format":"byte"}`, `{"contentType":"image/png"}`,
			"AP8=", filePart{"f", "", "image/png", "AP8="}},
		{"a text", "3.0.3", `{"type":"string"}`, ``, "AP8=", text},
		{"a text with a type of texts", "3.0.3", `{"type":"string"}`, `{"contentType":"text/csv"}`, "AP8=",
			filePart{"f",
				"", "text/csv", "AP8="}},
	} {
		encoding := ``
		if c.encoding != "" {
			encoding = `,"encoding":{"f":` + c.encoding + `}`
		}
		r := parsed(t,
			[]byte(`{"openapi":"`+c.version+`","components":{"schemas":{"F":{"type":"string","format":"binary"},`+
				`"G":{"$ref":"#/components/schemas/F"}}},"paths":{"/a":{"post":{`+
				`"requestBody":{"content":{"multipart/form-data":{"schema":{"type":"object","properties":{"f":`+
				c.schema+`}}`+encoding+`}}}}}}}`), Options{ResolveRefs: true})
		sound(t, r.Tools[0])
		body, contentType, refused := send(t, r.Tools[0], encode(t, map[string]any{"f": c.value}))
		if refused != "" || losses(r.Skipped) != nil {
			t.Errorf("%s: %s, left out: %v", c.why, refused, r.Skipped)
			continue
		}
		if got := filesOf(t, body, contentType); len(got) != 1 || got[0] != c.want {
			t.Errorf("%s: %+v, want %+v", c.why, got, c.want)
		}
	}
}

func TestFilesThatHaveNoNameInADocumentAreFiles(t *testing.T) {
	for _, c := range []struct{ why, schema, arguments string }{
		{"further members",
			`{"type":"object","properties":{"a":{"type":"string"}},` +
				`"additionalProperties":{"type":"string","format":"binary"}}`, `{"additionalProperties":{"f":"AP8="}}`},
		{"members alone", `{"type":"object","additionalProperties":{"type":"string","format":"binary"}}`,
			`{"body":{"f":"AP8="}}`},
		{"lists of them",
			`{"type":"object","additionalProperties":{"type":"array","items":{"type":"string","format":"binary"}}}`,
			`{"body":{"f":["AP8="]}}`},
		{"a form of which nothing is said", `{}`, `{"body":{"f":{"name":"f","data":"AP8="}}}`},
	} {
		r := withContent(t, "3.0.3", media{"multipart/form-data": json.RawMessage(`{"schema":` + c.schema + `}`)})
		sound(t, r.Tools[0])
		body, contentType, refused := send(t, r.Tools[0], []byte(c.arguments))
		if refused != "" {
			t.Errorf("%s: %s", c.why, refused)
			continue
		}
		if got := filesOf(t, body, contentType); len(got) != 1 ||
			got[0] != (filePart{"f", "f", "application/octet-stream",
				"\x00\xff"}) {
			t.Errorf("%s: %+v", c.why, got)
		}
	}
	alone := withContent(t, "3.0.3", media{"multipart/form-data": json.RawMessage(someBytes)})
	body, contentType, refused := send(t, alone.Tools[0], []byte(`{"file":"AP8="}`))
	if refused != "" || len(alone.Skipped) != 1 {
		t.Fatalf("a form that is a file: %s, left out: %v", refused, alone.Skipped)
	}
	if got := filesOf(t, body, contentType); len(got) != 1 || got[0].name != "file" || got[0].text != "\x00\xff" {
		t.Errorf("a form that is a file: %+v", got)
	}
}

func TestFilesGoInEachKindOfMultipart(t *testing.T) {
	for kind, want := range map[string]string{
		"multipart/form-data": "multipart/form-data", "multipart/mixed": "multipart/mixed",
		"multipart/*": "multipart/form-data",
		`multipart/related; type="image/png"; boundary=x`: "multipart/related",
		"multipart/form-data; charset=utf-8":              "multipart/form-data",
	} {
		r := withContent(t, "3.0.3", media{kind: json.RawMessage(strings.TrimSuffix(aFileOf, "}") +
			`,"encoding":{"f":{"contentType":"image/png"}}}`)})
		body, contentType, refused := send(t, r.Tools[0], []byte(`{"f":"AP8="}`))
		sent, params, _ := mime.ParseMediaType(contentType)
		if refused != "" || sent != want || strings.Contains(kind, "type=") != (params["type"] == "image/png") {
			t.Errorf("%s: sent as %s %s", kind, contentType, refused)
			continue
		}
		if got := filesOf(t, body, contentType); len(got) != 1 || got[0] != (filePart{"f", "f.png", "image/png",
			"\x00\xff"}) {
			t.Errorf("%s: %+v", kind, got)
		}
	}
}

func TestListsOfFilesOf20AreFiles(t *testing.T) {
	for _, parameter := range []string{
		`"type":"array","items":{"type":"file"},"collectionFormat":"multi"`,
		`"type":"array","items":{"type":"string","format":"binary"}`,
		`"type":"file"`, `"type":"string","format":"binary"`,
	} {
		r := parsed(t,
			[]byte(`{"swagger":"2.0","consumes":["multipart/form-data"],"paths":{"/a":{"post":{"parameters":[`+
				`{"in":"formData","name":"f",`+parameter+`}]}}}}`), Options{})
		sound(t, r.Tools[0])
		value := `"AP8="`
		if strings.Contains(parameter, "array") {
			value = `["AP8="]`
		}
		body, contentType, refused := send(t, r.Tools[0], []byte(`{"f":`+value+`}`))
		if refused != "" {
			t.Errorf("%s: %s", parameter, refused)
		} else if got := filesOf(t, body, contentType); len(got) != 1 || got[0].file != "f" ||
			got[0].text != "\x00\xff" {
			t.Errorf("%s: %+v", parameter, got)
		}
	}
}

func TestSchemaSaysHowBytesAreGiven(t *testing.T) {
	r := withContent(t, "3.1.0", media{"multipart/form-data": json.RawMessage(`{"schema":{"type":"object","properties":{
		"one":{"description":"The picture","anyOf":[
			{"type":"string","format":"binary","contentMediaType":"image/png","maxLength":9},{"type":"null"}]},
		"many":{"type":"array","minItems":1,"items":{"type":"string","contentMediaType":"image/png",
		"description":"a page"}},
		"long":{"type":"string","format":"binary","description":"` + strings.Repeat("é", 2000) + `"},
		"either":{"anyOf":[{"type":"string","format":"uri"},{"type":"string","format":"binary"}]}}}}`)})
	sound(t, r.Tools[0])
	var shown struct {
		Properties map[string]json.RawMessage
	}
	decode(t, r.Tools[0].InputSchema, &shown)
	for name, want := range map[string]string{
		"one": `{"anyOf":[{"contentMediaType":"image/png","format":"binary","type":"string"},` + asObject +
			`,{"type":"null"}],"description":"The picture (` + howBytes + `)"}`,
		"many": `{"items":{"anyOf":[{"contentMediaType":"image/png","type":"string"},` + asObject +
			`],"description":"a page (` + howBytes + `)"},"minItems":1,"type":"array"}`,
		"long": `{"anyOf":[{"format":"binary","type":"string"},` + asObject + `],"description":"` + strings.Repeat("é",
			1024-len(" ()")-len(howBytes)) + ` (` + howBytes + `)"}`,
		"either": `{"anyOf":[{"anyOf":[{"format":"uri","type":"string"},{"format":"binary","type":"string"}]},` +
			asObject +
			`],"description":"bytes: a data URL, or an object with data, name and type; anything else is sent as it ` +
			`is"}`,
	} {
		if got := shown.Properties[name]; !bytes.Equal(got, []byte(want)) {
			t.Errorf("%s is shown as %s\nwant %s", name, got, want)
		}
	}
}
