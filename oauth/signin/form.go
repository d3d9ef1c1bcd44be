package signin

import (
	"errors"
	"io"
	"mime"
	"net/http"
	"net/url"
	"unicode/utf8"
)

// formPath is where this room is, and where its form goes.
const formPath = "/oauth/signin"

// maxForm bounds the body of a form.
const maxForm = 64 << 10

// form is what the page sends back.
type form struct {
	username, password string
	query              string // the authorize request, in a hidden field: whatever the sender liked
}

// readForm reads a sign-in form, strictly: what could be read in two ways is refused.
func readForm(w http.ResponseWriter, r *http.Request) (form, error) {
	kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || kind != "application/x-www-form-urlencoded" {
		return form{}, notAForm
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxForm))
	if big := new(http.MaxBytesError); errors.As(err, &big) {
		return form{}, tooLarge
	}
	if err != nil {
		return form{}, notAForm.Because(err)
	}
	return parseForm(string(body))
}

func parseForm(body string) (form, error) {
	fields, err := url.ParseQuery(body)
	if err != nil {
		return form{}, notAForm // not its cause: that would quote the body, and the password with it
	}
	var f form
	for name, into := range map[string]*string{"username": &f.username, "password": &f.password, "query": &f.query} {
		values := fields[name]
		switch {
		case len(values) > 1:
			return form{}, twice
		case len(values) == 1 && !utf8.ValidString(values[0]):
			return form{}, notText
		case len(values) == 1:
			*into = values[0]
		}
	}
	f.query, err = carry(f.query)
	return f, err
}
