package ui

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/keystile/keystile/gateway/internal/adminapi"
)

// maxForm bounds a form of a page that has no MaxForm, in bytes.
const maxForm = 64 << 10

// FieldsOf converts a form to the fields that a program would send.
func FieldsOf(form url.Values, kinds map[string]Kind) (adminapi.Fields, error) {
	f := adminapi.Fields{}
	for name, kind := range kinds {
		text := strings.ReplaceAll(form.Get(name), "\r\n", "\n")
		var value any = text
		switch kind {
		case Optional, Number, JSON:
			if text = strings.TrimSpace(text); text == "" {
				continue
			}
			value = text
			if kind != Optional {
				value = json.RawMessage(text)
				if !json.Valid([]byte(text)) {
					return nil, adminapi.BadBody.Saying(name + " is not " + map[Kind]string{Number: "a number", JSON: "JSON"}[kind])
				}
			}
		case Lines:
			lines := []string{}
			for line := range strings.SplitSeq(text, "\n") {
				if line = strings.TrimSpace(line); line != "" {
					lines = append(lines, line)
				}
			}
			value = lines
		case Bool:
			value = form.Has(name)
		case Choices:
			value = append([]string{}, form[name]...)
		}
		raw, err := json.Marshal(value)
		if err != nil {
			return nil, adminapi.BadBody.Because(err)
		}
		f[name] = raw
	}
	return f, nil
}

// readForm reads the form of a request, of at most so many bytes, as a whole or not at all: a field that
// is lost would be read as a box that is not ticked. ParseMultipartForm alone says nothing of that.
func readForm(w http.ResponseWriter, r *http.Request, most int64) error {
	r.Body = http.MaxBytesReader(w, r.Body, most)
	err := r.ParseForm()
	if err == nil {
		err = r.ParseMultipartForm(most)
	}
	if err != nil && err != http.ErrNotMultipart {
		return adminapi.BadBody.Saying("the form could not be read, or is larger than " + strconv.FormatInt(most>>10, 10) +
			" KiB").Because(err)
	}
	return nil
}
