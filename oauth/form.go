package oauth

import (
	"cmp"
	"io"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/keystile/keystile/oauth/internal/engine"
)

const (
	maxForm = 64 << 10 // bytes in a form body
	formCT  = "application/x-www-form-urlencoded"
)

// bodyForm reads the parameters of a form body (protocol 4). Those of the query are not read.
func bodyForm(w http.ResponseWriter, r *http.Request) (url.Values, error) {
	text, err := formBody(w, r)
	if err != nil {
		return nil, err
	}
	form, err := parseForm(text)
	r.PostForm = form // the body is gone; the metrics read grant_type here
	return form, err
}

func formBody(w http.ResponseWriter, r *http.Request) (string, error) {
	if !isForm(r.Header.Get("Content-Type")) {
		return "", badRequest.Saying("the Content-Type must be " + formCT)
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxForm))
	if err != nil {
		return "", badBody(err)
	}
	return string(body), nil
}

// isForm reports whether a Content-Type is that of a form. Most say just that.
func isForm(sent string) bool {
	if sent == formCT {
		return true
	}
	ct, _, err := mime.ParseMediaType(sent)
	return err == nil && ct == formCT
}

// single holds the parameters of all forms and queries here: each is sent at most once (RFC 6749 3.1, 3.2), because
// proxies and libraries differ in which of two they take. Others are not read, and may be there as often as they like.
var single = map[string]bool{}

func init() {
	for _, name := range authorizeNames {
		single[name] = true
	}
	for name := range strings.FieldsSeq(`
		client_secret client_assertion client_assertion_type grant_type code code_verifier refresh_token device_code
		assertion subject_token subject_token_type actor_token actor_token_type requested_token_type
		token token_type_hint id_token_hint logout_hint post_logout_redirect_uri
	`) {
		single[name] = true
	}
}

// parseForm reads parameters. One sent empty counts as not sent. A malformed parameter does not hide the others:
// they are returned with the error, because the error is sent to the application's redirect_uri.
func parseForm(text string) (url.Values, error) {
	form, err := splitForm(text)
	if err != nil {
		err = badRequest.Saying("the parameters are not properly URL-encoded").Because(err)
	}
	for name, values := range form {
		switch {
		case !keepable(name) || slices.ContainsFunc(values, func(v string) bool { return !keepable(v) }):
			err = badRequest.Saying("a parameter is not UTF-8, or holds a zero byte, which not every store can keep")
			delete(form, name)
		case name == "resource" && slices.ContainsFunc(values, func(v string) bool { return v != values[0] }):
			err = badRequest.Named(engine.InvalidTarget).Saying("resource is sent more than once: a token is for one of them, " +
				"so ask for each in a request of its own")
			delete(form, name)
		case name != "resource" && single[name] && len(values) > 1:
			err = badRequest.Saying("parameter " + printable(name) + " is sent more than once")
			delete(form, name)
		case values[0] == "":
			delete(form, name)
		default:
			form[name] = values[:1]
		}
	}
	return form, err
}

// splitForm splits parameters as browsers write them (WHATWG URL, application/x-www-form-urlencoded): a semicolon
// is an ordinary character. A parameter that cannot be decoded is an error, and is left out.
func splitForm(text string) (form url.Values, err error) {
	form = url.Values{}
	for part := range strings.SplitSeq(text, "&") {
		if part == "" {
			continue
		}
		name, value, _ := strings.Cut(part, "=")
		name, badName := url.QueryUnescape(name)
		value, badValue := url.QueryUnescape(value)
		if wrong := cmp.Or(badName, badValue); wrong != nil {
			err = wrong
			continue
		}
		form[name] = append(form[name], value)
	}
	return form, err
}

// keepable reports whether every store can keep a text.
func keepable(text string) bool { return utf8.ValidString(text) && !strings.Contains(text, "\x00") }

// readTarget rewrites the resource of a request in the form that tokens name it in.
//
// Clients make it of an address that a person has typed, so a slash at its end and capitals in scheme and host
// are accepted.
func (k *core) readTarget(form url.Values) {
	if sent := form.Get("resource"); sent != "" {
		form.Set("resource", k.engine.Target(sent))
	}
}

// printable replaces the characters of a client's text that would make an answer unreadable.
func printable(s string) string {
	s = strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' || r == '"' || r == '\\' {
			return '?'
		}
		return r
	}, s)
	if len(s) > 64 {
		s = s[:64]
	}
	return s
}
