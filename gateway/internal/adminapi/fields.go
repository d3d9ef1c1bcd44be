package adminapi

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"mime"
	"net/http"
	"slices"
	"strings"

	"github.com/keystile/keystile/internal/rawjson"
)

const (
	maxBody   = 64 << 10 // bytes
	bodyDepth = 4
)

// Fields is a JSON object as it was sent. Its names are among those given to ReadFields.
type Fields map[string]json.RawMessage

// fieldsKey is the key of fields in the context of a request.
type fieldsKey struct{}

// WithFields returns a request whose ReadFields returns these fields: those of a form.
func WithFields(r *http.Request, f Fields) *http.Request {
	return r.WithContext(context.WithValue(r.Context(), fieldsKey{}, f))
}

// ReadFields reads an object strictly: what two readers might read differently is refused,
// and so is an unknown field, because its sender expects an effect. No body at all is an
// object without fields.
func ReadFields(w http.ResponseWriter, r *http.Request, known ...string) (Fields, error) {
	if f, ok := r.Context().Value(fieldsKey{}).(Fields); ok {
		for name := range f {
			if !slices.Contains(known, name) {
				return nil, unknownField(name, known)
			}
		}
		return f, nil
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if big := (*http.MaxBytesError)(nil); errors.As(err, &big) {
		return nil, err
	}
	if err != nil {
		return nil, BadBody.Because(err)
	}
	if len(body) == 0 {
		return Fields{}, nil
	}
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		return nil, NotJSON
	}
	if err := rawjson.Check(body, rawjson.Limits{Depth: bodyDepth, Once: true, Members: 100}); err != nil {
		return nil, BadBody.Saying("the fields " + err.Error())
	}
	body = rawjson.Trim(body)
	if body[0] != '{' {
		return nil, BadBody.Saying("the body is not a JSON object: send one such as {}")
	}
	f := Fields{}
	for name, value := range rawjson.Members(body) {
		switch {
		case !slices.Contains(known, string(name)):
			return nil, unknownField(string(name), known)
		case string(value) == "null":
			return nil, BadBody.Saying(fmt.Sprintf("%s is null: leave it out, or give it a value", name))
		}
		f[string(name)] = value
	}
	return f, nil
}

func unknownField(name string, known []string) error {
	msg := fmt.Sprintf("%.60q is no field here", name)
	if name == "tier" {
		msg = "the tier is changed by POST /api/v1/billing/upgrade"
	} else if len(known) > 0 {
		msg += ": the fields are " + strings.Join(known, ", ")
	}
	return BadBody.Saying(msg)
}

// Any refuses an object without fields; those there could be are named.
func (f Fields) Any(known []string) error {
	if len(f) == 0 {
		return BadBody.Saying("there is nothing to change: send some of " + strings.Join(known, ", "))
	}
	return nil
}

// Read reads a field into a variable, which it leaves alone if the field was not sent. what
// describes the field, such as "a text".
func (f Fields) Read(name, what string, into any) error {
	raw, sent := f[name]
	if !sent {
		return nil
	}
	if err := json.Unmarshal(raw, into); err != nil {
		return BadBody.Saying(name + " is not " + what)
	}
	return nil
}

// Texts reads a list of texts. JSON's null would pass for an empty one.
func (f Fields) Texts(name string, into *[]string) error {
	raw, sent := f[name]
	if !sent {
		return nil
	}
	var list []*string
	if err := json.Unmarshal(raw, &list); err != nil || slices.Contains(list, nil) {
		return BadBody.Saying(name + " is not a list of texts")
	}
	*into = make([]string, len(list))
	for i, text := range list {
		(*into)[i] = *text
	}
	return nil
}

// Field is a member of a body, and the variable that it is read into.
type Field struct {
	name, what string
	into       any
}

// Text is a Field that holds a text.
func Text(name string, into *string) Field { return Field{name, "a text", into} }

// Flag is a Field that is true or false.
func Flag(name string, into *bool) Field { return Field{name, "true or false", into} }

// Texts is a Field that holds a list of texts.
func Texts(name string, into *[]string) Field { return Field{name, "", into} }

// ReadInto reads an object that has these fields and no others. A variable whose field was not sent stays as it is.
func ReadInto(w http.ResponseWriter, r *http.Request, fields ...Field) error {
	known := make([]string, len(fields))
	for i, one := range fields {
		known[i] = one.name
	}
	f, err := ReadFields(w, r, known...)
	for _, one := range fields {
		if list, is := one.into.(*[]string); is {
			err = cmp.Or(err, f.Texts(one.name, list))
		} else {
			err = cmp.Or(err, f.Read(one.name, one.what, one.into))
		}
	}
	return err
}

// ReadText reads an object that has one text, and returns otherwise if it was not sent.
func ReadText(w http.ResponseWriter, r *http.Request, name, otherwise string) (text string, err error) {
	text = otherwise
	err = ReadInto(w, r, Text(name, &text))
	return text, err
}

// NoFields refuses any body but {}.
func NoFields(w http.ResponseWriter, r *http.Request) error {
	f, err := ReadFields(w, r)
	if err == nil && len(f) > 0 {
		err = unknownField(slices.Sorted(maps.Keys(f))[0], nil)
	}
	return err
}
