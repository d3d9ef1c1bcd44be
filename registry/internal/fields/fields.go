// Package fields reads what is sent to the registry: bodies in JSON or YAML, field by field.
package fields

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/keystile/keystile/internal/connections"
	"github.com/keystile/keystile/internal/toolschema"
	"github.com/keystile/keystile/internal/yamljson"
	"github.com/keystile/keystile/registry/openapi"
)

// MaxRequest is a document of the largest size as a JSON string, where every quote is
// escaped, and all else.
const MaxRequest = 2*(16<<20) + 1<<20

// Read reads the fields of a body of at most so many bytes.
func Read(w http.ResponseWriter, r *http.Request, most int64) (fields map[string]json.RawMessage, err error) {
	text, err := io.ReadAll(http.MaxBytesReader(w, r.Body, most))
	if big := (*http.MaxBytesError)(nil); errors.As(err, &big) {
		return nil, tooMuch("the request has more than %d bytes: split the document", most)
	}
	if err != nil {
		return nil, unread(err)
	}
	text = bytes.TrimPrefix(text, []byte("\xef\xbb\xbf"))
	if isYAML(r.Header.Get("Content-Type")) {
		if text, err = requestOfYAML(r.Context(), text); err != nil {
			return nil, err
		}
	}
	return Unique(text, `: send {"member":...,"upstream_url":...}`)
}

// Unique is Of for a body that may have each field once: readers that disagree on which of two counts are
// a way past a check.
func Unique(body []byte, like string) (map[string]json.RawMessage, error) {
	fields, err := Of(body, like)
	if err == nil && Count(body) != len(fields) {
		err = wrong("a field is there twice: send each once")
	}
	return fields, err
}

// Of reads the fields of a body in JSON. like says what one looks like, to a client that sends no object.
func Of(body []byte, like string) (fields map[string]json.RawMessage, err error) {
	if err := json.Unmarshal(body, &fields); err != nil || fields == nil {
		return nil, wrong("the body is not one JSON object" + like)
	}
	return fields, nil
}

// unread returns the refusal of a body that has not come to its end: too slow, or cut off.
func unread(err error) error {
	if errors.Is(err, connections.ErrSlow) {
		return err
	}
	return wrong("the body ended too early: send it again")
}

// YAMLTypes are the media types of YAML: RFC 9512, and what was used before it.
var YAMLTypes = []string{"application/yaml", "application/x-yaml", "text/yaml", "text/x-yaml", "text/vnd.yaml"}

func isYAML(contentType string) bool {
	kind, _, err := mime.ParseMediaType(contentType)
	return err == nil && slices.Contains(YAMLTypes, kind)
}

// requestDepth bounds the nesting of a registration in YAML. The document in it has
// limits of its own, which come later and say more.
const requestDepth = 1000

// maxValues bounds the keys and values of a registration in YAML, as package openapi does those of a document.
const maxValues = 3_000_000

// requestOfYAML turns a registration in YAML into JSON. As with documents, what begins with a
// brace is JSON.
func requestOfYAML(ctx context.Context, text []byte) ([]byte, error) {
	if t := bytes.Trim(text, "\ufeff \t\r\n"); len(t) > 0 && t[0] == '{' {
		return text, nil
	}
	out, err := yamljson.JSON(ctx, text, yamljson.Limits{Bytes: MaxRequest, Depth: requestDepth, Nodes: maxValues})
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case errors.Is(err, yamljson.ErrDepth), errors.Is(err, yamljson.ErrSize):
		return nil, tooMuch("the request is too large (%v): use fewer aliases, or split the document", err)
	case err != nil:
		return nil, wrong("as YAML the body is wrong (" + toolschema.Text(err.Error()) + "): mend it there, or send JSON")
	}
	return out, nil
}

// Count counts the members of an object that is valid JSON.
func Count(object []byte) (n int) {
	depth, quoted := 0, false
	for i := 0; i < len(object); i++ {
		switch c := object[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			depth++
		case c == '}' || c == ']':
			depth--
		case c == ':' && depth == 1:
			n++
		}
	}
	return n
}

// Text reads a string. It refuses invalid UTF-8: replacing characters would change a secret.
func Text(raw json.RawMessage) (text string, ok bool) {
	err := json.Unmarshal(raw, &text)
	return text, err == nil && !strings.ContainsRune(text, utf8.RuneError)
}

func wrong(msg string) error {
	return &openapi.Rejection{Errcode: openapi.ErrcodeBadField, Msg: msg}
}

func tooMuch(format string, args ...any) error {
	return &openapi.Rejection{Errcode: openapi.ErrcodeTooMuch, Msg: fmt.Sprintf(format, args...)}
}
