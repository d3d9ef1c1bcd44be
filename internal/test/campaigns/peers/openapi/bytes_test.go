package openapi

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"mime"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3filter"
)

// picture is a PNG of one pixel; its base64 has characters in which the two alphabets differ.
var picture, _ = base64.StdEncoding.DecodeString(
	"iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==")

// spelling is a way in which documents say that a value is a file.
type spelling struct {
	name, version string
	schema        string // of a field, or of the whole body
	list, single  bool   // it takes a list, or one file
	orText        bool   // it takes something else too
}

var spellings = []spelling{
	{"binary", "3.0.3", `{"type":"string","format":"binary"}`, false, true, false},
	{"nullable", "3.0.3", `{"type":"string","format":"binary","nullable":true}`, false, true, false},
	{"reference", "3.0.3", `{"$ref":"#/components/schemas/File"}`, false, true, false},
	{"allOf", "3.0.3", `{"allOf":[{"$ref":"#/components/schemas/File"}],"nullable":true,"description":"the picture"}`,
		false, true, false},
	{"inParts", "3.0.3", `{"allOf":[{"type":"string"},{"format":"binary"}]}`, false, true, false},
	{"list", "3.0.3", `{"type":"array","items":{"$ref":"#/components/schemas/File"}}`, true, false, false},
	{"orNull", "3.1.0", `{"anyOf":[{"type":"string","format":"binary"},{"type":"null"}],"title":"File"}`, false, true,
		false},
	{"typeList", "3.1.0", `{"type":["string","null"],"format":"binary"}`, false, true, false},
	{"oneOrMany", "3.1.0",
		`{"oneOf":[{"type":"string","format":"binary"},{"type":"array","items":{"type":"string","format":"binary"}}]}`,
		true, true, false},
	{"listOrNull", "3.1.0", `{"anyOf":[{"type":"array","items":{"type":"string","format":"binary"}},{"type":"null"}]}`,
		true, false, false},
	{"mediaType", "3.1.0", `{"type":"string","contentMediaType":"application/octet-stream"}`, false, true, false},
	{"mediaTypeOrNull", "3.1.0", `{"anyOf":[{"type":"string","contentMediaType":"image/png"},{"type":"null"}]}`, false,
		true, false},
	{"orAddress", "3.1.0", `{"anyOf":[{"type":"string","format":"binary"},{"type":"string","format":"uri"}]}`, false,
		true, true},
	{"unsaid", "3.1.0", `{}`, false, true, true},
}

// bodyKinds are the media types of bodies that have a file.
var bodyKinds = map[string]string{
	"form": "multipart/form-data", "stream": "application/octet-stream", "image": "image/png", "images": "image/*",
	"anything": "*/*",
}

// given returns the forms in which clients give bytes.
func given(t *testing.T, b []byte) map[string]any {
	text := base64.StdEncoding.EncodeToString(b)
	return map[string]any{
		"base64": text, "base64url": base64.RawURLEncoding.EncodeToString(b), "dataURL": "data:image/png;base64," +
			text,
		"object":       tree{"name": "a.png", "type": "image/png", "data": text},
		"objectOfURL":  tree{"data": "data:image/png;base64," + text},
		"objectInText": string(encoded(t, tree{"type": "image/png", "data": text})),
	}
}

// uploads is a document with an operation for each spelling in each kind of body.
func uploads(version string) tree {
	paths := tree{}
	for _, s := range spellings {
		if s.version != version {
			continue
		}
		for kind, media := range bodyKinds {
			if kind != "form" && !s.single {
				continue // a list of files is no body
			}
			of := tree{"schema": json.RawMessage(s.schema)}
			switch {
			case kind == "form":
				of["schema"] = tree{"type": "object", "properties": tree{"file": of["schema"],
					"note": tree{"type": "string"}}}
			case s.name == "unsaid":
				of = tree{}
			}
			paths["/"+kind+"/"+s.name] = tree{"post": tree{
				"operationId": kind + "_" + s.name, "requestBody": tree{"content": tree{media: of}, "required": true},
				"responses": tree{"204": tree{"description": "done"}},
			}}
		}
	}
	return tree{
		"openapi": version, "info": tree{"title": "uploads", "version": "1"}, "paths": paths,
		"components": tree{"schemas": tree{"File": tree{"type": "string", "format": "binary"}}},
	}
}

// receiver is an upload endpoint as FastAPI has it: a part is a file if it has a file name, and nothing else is read.
type receiver struct {
	kin      kin
	prism    prism
	files    [][]byte
	types    []string
	judged   map[string][]string
	template string
}

func (u *receiver) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	u.files, u.types = nil, nil
	media, params, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if media == "multipart/form-data" {
		parts := multipart.NewReader(bytes.NewReader(body), params["boundary"])
		for {
			part, err := parts.NextRawPart()
			if err != nil {
				break
			}
			text, _ := io.ReadAll(part)
			if part.FormName() == "file" && part.FileName() != "" {
				u.files, u.types = append(u.files, text), append(u.types, part.Header.Get("Content-Type"))
			}
		}
	} else {
		u.files, u.types = [][]byte{body}, []string{media}
	}
	r.RequestURI = r.URL.RequestURI()
	u.judged = map[string][]string{"Prism": u.prism.validate(r, body)}
	r.Body = io.NopCloser(bytes.NewReader(body))
	u.judged["kin-openapi"] = u.kin.validate(r, u.template)
	w.WriteHeader(http.StatusNoContent)
}

func TestBytesArriveAsTheyAreHoweverADocumentSpellsAFile(t *testing.T) {
	openapi3filter.RegisterBodyDecoder("image/png", openapi3filter.FileBodyDecoder) // which it does not know itself
	t.Cleanup(func() { openapi3filter.UnregisterBodyDecoder("image/png") })
	h := newFixture(t)
	var documents []tree
	receivers := map[string]*receiver{}
	for _, version := range []string{"3.0.3", "3.1.0"} {
		document := uploads(version)
		text := encoded(t, document)
		u := &receiver{kin: newKin(t, text, false)}
		server := httptest.NewServer(u)
		t.Cleanup(server.Close)
		h.register(t, "up"+version[2:3], server.URL, text)
		documents, receivers[version] = append(documents, decoded(t, text)), u
	}
	for i, address := range prisms(t, documents) {
		receivers[[]string{"3.0.3", "3.1.0"}[i]].prism = prism{address}
	}
	if err := h.bus.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	calls := 0
	for _, s := range spellings {
		u := receivers[s.version]
		for _, kind := range slices.Sorted(maps.Keys(bodyKinds)) {
			if kind != "form" && !s.single {
				continue
			}
			for form, value := range given(t, picture) {
				if (kind == "form" || kind == "anything") && s.orText && strings.HasPrefix(form, "base64") {
					continue // there it is a text
				}
				calls++
				s.try(t, h, u, kind, form, value)
			}
		}
	}
	if calls < 200 {
		t.Errorf("%d calls were made, want more", calls)
	}
}

// blindToLists has what the judges object to in parts of one name, which are the elements of a list: they
// read the parts one by one.
var blindToLists = map[string]string{
	"Prism list": "property file must be", "Prism listOrNull": "property file must",
	"kin-openapi listOrNull": "got string, want array",
}

// try gives a file to one operation: alone, and in a list where it takes one.
func (s spelling) try(t *testing.T, h *fixture, u *receiver, kind, form string, value any) {
	t.Helper()
	arguments, want := tree{"body": value}, 1
	if kind == "form" {
		arguments = tree{"file": value}
		if s.list {
			arguments, want = tree{"file": []any{value, value}}, 2
		}
	}
	what := fmt.Sprintf("%s in %s as %s", s.name, kind, form)
	u.template, u.files, u.judged = "/"+kind+"/"+s.name, nil, nil
	if said := h.call(t, "up"+s.version[2:3]+"__"+kind+"_"+s.name, arguments); said != "" {
		t.Errorf("%s: %s", what, said)
		return
	}
	if len(u.files) != want {
		t.Errorf("%s: %d files arrive, want %d", what, len(u.files), want)
	}
	for i, got := range u.files {
		if !bytes.Equal(got, picture) {
			t.Errorf("%s: %q arrives", what, got)
		}
		if typed := kind == "image" || kind == "images" || kind == "anything" || form == "dataURL" &&
			kind == "form"; typed && u.types[i] != "image/png" {
			t.Errorf("%s: the bytes are sent as %s", what, u.types[i])
		}
	}
	for judge, objections := range u.judged {
		why := blindToLists[judge+" "+s.name]
		if why != "" && kind == "form" && len(objections) == 0 {
			t.Errorf("%s: %s sees it by now (%s): take its row away", what, judge, why)
		}
		for _, objection := range objections {
			if why != "" && strings.Contains(objection, why) {
				continue
			}
			t.Errorf("%s: %s objects: %s", what, judge, objection)
		}
	}
}
