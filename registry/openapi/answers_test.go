package openapi

import (
	"fmt"
	"slices"
	"testing"
)

func TestDocumentKeepsWhatItSaysOfAnswers(t *testing.T) {
	for _, c := range []struct {
		version, more, operation string
		accept                   string
		tells                    []string
	}{
		{"3.0.3", "", `{"responses": {"200": {"description": "", "content": {"text/csv": {}, "application/json; ` +
			`charset=utf-8": {}}}}}`, "application/json,text/csv", nil},
		{"3.0.3", "", `{"responses": {"200": {"description": "", "content": {"application/json": {}}}}}`, "", nil},
		{"3.0.3", "", `{"responses": {"200": {"description": "", "content": {"*/*": {}}}, "400": {"description": "", ` +
			`"content": {"text/html": {}}}}}`, "", nil},
		{"3.1.0", "", `{"responses": {"2XX": {"description": "", "content": {"application/json;v=1": {}, "image/*": ` +
			`{}, "a, b": {}}}}}`, "application/json; v=1,image/*", nil},
		{"3.0.3", "", `{"responses": {"default": {"description": "", "content": {"text/plain": {}}}}}`, "text/plain",
			nil},
		{"3.1.0", `, "components": {"responses": {"r": {"description": "", "content": {"text/event-stream": {}}, ` +
			`"headers": {"x-thing": {}}}}}`,
			`{"responses": {"201": {"$ref": "#/components/responses/r"}, "404": {"description": "", "headers": ` +
				`{"X-No": {}}}}}`, "text/event-stream", []string{"X-Thing"}},
		{"3.0.3", "", `{"responses": {"200": {"description": "", "headers": {"X-Thing": {}, "x-thing": {}, ` +
			`"Set-Cookie": {}, "X-Auth-Token": {}, "b c": {}, "ETag": {}}}}}`, "", []string{"Etag", "X-Thing"}},
		{"2.0", `, "produces": ["application/xml", "text/csv"]`,
			`{"responses": {"200": {"description": "", "headers": {"X-Thing": {"type": "string"}}}}}`,
			"application/xml,text/csv", []string{"X-Thing"}},
		{"2.0", `, "produces": ["application/xml"]`,
			`{"produces": ["application/json"], "responses": {"200": {"description": ""}}}`, "", nil},
		{"3.0.3", "", `{"responses": {"200": {"$ref": "#/nowhere"}}}`, "", nil},
		{"3.0.3", "", `{"responses": {"default": {"description": "", "content": {"application/problem+json": {}}}}}`,
			"", nil},
		{"3.0.3", "", `{"responses": {"200": {"description": "", "content": {"application/problem+xml": {}, "a/b": ` +
			`{}}}}}`,
			"a/b", nil},
		{"3.0.3", "", `{"responses": [1]}`, "", nil},
		{"3.0.3", "", `{}`, "", nil},
	} {
		version := `"openapi": "` + c.version + `"`
		if c.version == "2.0" {
			version = `"swagger": "2.0"`
		}
		document := fmt.Sprintf(`{%s, "info": {"title": "t", "version": "1"}%s, "paths": {"/x": {"get": %s}}}`, version,
			c.more, c.operation)
		call := parsed(t, []byte(document), Options{}).Tools[0].Call
		if call.Accept != c.accept || !slices.Equal(call.Tells, c.tells) {
			t.Errorf("%s: accepts %q and tells %q, want %q and %q", c.operation, call.Accept, call.Tells, c.accept,
				c.tells)
		}
	}
}
