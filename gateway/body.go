package gateway

import (
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
	"github.com/keystile/keystile/storage"
)

const (
	maxBody   = 64 << 10 // bytes
	bodyDepth = 4
)

// fields is a JSON object as it was sent. Its names are those of known, and of what is null
// or of another type it says so.
type fields map[string]json.RawMessage

// readFields reads an object strictly: what two readers might read differently is refused,
// and so is a field that means nothing here, because whoever sent it thought it did. No
// body at all is an object without fields.
func readFields(w http.ResponseWriter, r *http.Request, known ...string) (fields, error) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if big := (*http.MaxBytesError)(nil); errors.As(err, &big) {
		return nil, err
	}
	if err != nil {
		return nil, badBody.Because(err)
	}
	if len(body) == 0 {
		return fields{}, nil
	}
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		return nil, notJSON
	}
	if err := rawjson.Check(body, rawjson.Limits{Depth: bodyDepth, Once: true, Members: 100}); err != nil {
		return nil, badBody.Saying("the fields " + err.Error())
	}
	body = rawjson.Trim(body)
	if body[0] != '{' {
		return nil, badBody.Saying("the body is not a JSON object: send one such as {}")
	}
	f := fields{}
	for name, value := range rawjson.Members(body) {
		switch {
		case !slices.Contains(known, string(name)):
			return nil, unknownField(string(name), known)
		case string(value) == "null":
			return nil, badBody.Saying(fmt.Sprintf("%s is null: leave it out, or give it a value", name))
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
	return badBody.Saying(msg)
}

// read reads a field into a variable, which it leaves alone if the field was not sent. what
// says what the field is, as in "a text".
func (f fields) read(name, what string, into any) error {
	raw, sent := f[name]
	if !sent {
		return nil
	}
	if err := json.Unmarshal(raw, into); err != nil {
		return badBody.Saying(name + " is not " + what)
	}
	return nil
}

// texts reads a list of texts. JSON's null would pass for an empty one.
func (f fields) texts(name string, into *[]string) error {
	raw, sent := f[name]
	if !sent {
		return nil
	}
	var list []*string
	if err := json.Unmarshal(raw, &list); err != nil || slices.Contains(list, nil) {
		return badBody.Saying(name + " is not a list of texts")
	}
	*into = make([]string, len(list))
	for i, text := range list {
		(*into)[i] = *text
	}
	return nil
}

// none refuses any body but {}.
func none(w http.ResponseWriter, r *http.Request) error {
	f, err := readFields(w, r)
	if err == nil && len(f) > 0 {
		err = unknownField(slices.Sorted(maps.Keys(f))[0], nil)
	}
	return err
}

// plain is what a record has against a request, without the words of the store.
func plain(err error) string {
	text := strings.ReplaceAll(err.Error(), storage.ErrInvalid.Error()+": ", "")
	return strings.ReplaceAll(strings.TrimPrefix(text, "application: "), "\n", "; ")
}
