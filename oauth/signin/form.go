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

// readForm reads a sign-in form.
func readForm(w http.ResponseWriter, r *http.Request) (form, error) {
	body, err := readBody(w, r)
	if err != nil {
		return form{}, err
	}
	return parseForm(body)
}

// readFields reads a form of these fields, strictly: what could be read in two ways is
// refused. A field that is missing is empty, and others are not looked at.
func readFields(w http.ResponseWriter, r *http.Request, names ...string) (map[string]string, error) {
	body, err := readBody(w, r)
	if err != nil {
		return nil, err
	}
	return parseFields(body, names...)
}

// readCarried is readFields for a form that carries an authorize request in the field query.
func readCarried(w http.ResponseWriter, r *http.Request, names ...string) (map[string]string, error) {
	in, err := readFields(w, r, append(names, "query")...)
	if err != nil {
		return nil, err
	}
	in["query"], err = carry(in["query"])
	return in, err
}

func readBody(w http.ResponseWriter, r *http.Request) (string, error) {
	kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || kind != "application/x-www-form-urlencoded" {
		return "", notAForm
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxForm))
	if big := new(http.MaxBytesError); errors.As(err, &big) {
		return "", tooLarge
	}
	if err != nil {
		return "", notAForm.Because(err)
	}
	return string(body), nil
}

func parseForm(body string) (form, error) {
	in, err := parseFields(body, "username", "password", "query")
	if err != nil {
		return form{}, err
	}
	f := form{username: in["username"], password: in["password"]}
	f.query, err = carry(in["query"])
	return f, err
}

func parseFields(body string, names ...string) (map[string]string, error) {
	fields, err := url.ParseQuery(body)
	if err != nil {
		return nil, notAForm // not its cause: that would quote the body, and the password with it
	}
	in := map[string]string{}
	for _, name := range names {
		values := fields[name]
		switch {
		case len(values) > 1:
			return nil, twice
		case len(values) == 1 && !utf8.ValidString(values[0]):
			return nil, notText
		case len(values) == 1:
			in[name] = values[0]
		}
	}
	return in, nil
}
