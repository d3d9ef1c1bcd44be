package web

import (
	"errors"
	"io"
	"mime"
	"net/http"
	"net/url"
	"unicode/utf8"
)

// MaxForm bounds the body of a form.
const MaxForm = 64 << 10

// Form holds the fields of the sign-in form.
type Form struct {
	Username, Password string
	Query              string // the authorize request, in a hidden field that the sender can change
}

// ReadForm reads a sign-in form that no other site has sent.
func (p *Pages) ReadForm(w http.ResponseWriter, r *http.Request) (Form, error) {
	body, err := p.readBody(w, r)
	if err != nil {
		return Form{}, err
	}
	return parseForm(body)
}

// ReadFields reads these fields of a form that no other site has sent, strictly: an ambiguous form is refused. A
// missing field is empty, and other fields are ignored.
func (p *Pages) ReadFields(w http.ResponseWriter, r *http.Request, names ...string) (map[string]string, error) {
	body, err := p.readBody(w, r)
	if err != nil {
		return nil, err
	}
	return parseFields(body, names...)
}

// ReadChoice is ReadFields for a form with one field that stands in it as often as a person has
// chosen something: at most most times.
func (p *Pages) ReadChoice(w http.ResponseWriter, r *http.Request, choice string, most int,
	names ...string) (in map[string]string, chosen []string, err error) {
	body, err := p.readBody(w, r)
	if err != nil {
		return nil, nil, err
	}
	if in, err = parseFields(body, names...); err != nil {
		return nil, nil, err
	}
	fields, _ := url.ParseQuery(body) // parseFields has read it
	if chosen = fields[choice]; len(chosen) > most {
		return nil, nil, NotAForm
	}
	return in, chosen, nil
}

// ReadCarried is ReadFields for a form that carries an authorize request in the field query.
func (p *Pages) ReadCarried(w http.ResponseWriter, r *http.Request, names ...string) (map[string]string, error) {
	in, err := p.ReadFields(w, r, append(names, "query")...)
	if err != nil {
		return nil, err
	}
	in["query"], err = Carry(in["query"])
	return in, err
}

// readBody reads the body of a form that no other site has sent.
func (p *Pages) readBody(w http.ResponseWriter, r *http.Request) (string, error) {
	if err := p.CheckOrigin(r); err != nil {
		return "", err
	}
	kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || kind != "application/x-www-form-urlencoded" {
		return "", NotAForm
	}
	body, err := ReadAll(w, r)
	return string(body), err
}

// ReadAll reads the body of a form as it is.
func ReadAll(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, MaxForm))
	if big := new(http.MaxBytesError); errors.As(err, &big) {
		return nil, TooLarge
	}
	if err != nil {
		return nil, NotAForm.Because(err)
	}
	return body, nil
}

func parseForm(body string) (Form, error) {
	in, err := parseFields(body, "username", "password", "query")
	if err != nil {
		return Form{}, err
	}
	f := Form{Username: in["username"], Password: in["password"]}
	f.Query, err = Carry(in["query"])
	return f, err
}

func parseFields(body string, names ...string) (map[string]string, error) {
	fields, err := url.ParseQuery(body)
	if err != nil {
		return nil, NotAForm // not its cause: that would quote the body, and the password with it
	}
	in := map[string]string{}
	for _, name := range names {
		values := fields[name]
		switch {
		case len(values) > 1:
			return nil, Twice
		case len(values) == 1 && !utf8.ValidString(values[0]):
			return nil, NotText
		case len(values) == 1:
			in[name] = values[0]
		}
	}
	return in, nil
}
