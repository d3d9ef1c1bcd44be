package connector

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// An echo of the request by a provider is not passed on to the log.
func TestErrorsHoldNoSecret(t *testing.T) {
	for _, name := range names {
		for i, step := range steps(name) {
			sent := secret
			if name == "alipay" {
				sent = "nothing" // it has a key instead, which goes nowhere
			}
			echo := "you sent " + sent + " and " + code + " and the-access-token, the-refresh-token " + url.QueryEscape(sent)
			if name == "wecom" { // it has no refresh tokens, and is sent the code with the second request
				echo = strings.ReplaceAll(echo, "the-refresh-token", "")
			}
			if name == "wecom" && i == 0 {
				echo = strings.ReplaceAll(echo, code, "")
			}
			text := `{"errcode":1,"error":2,"errmsg":"` + echo + `","error_description":"` + echo + `","data":{"error_code":3,"description":"` + echo + `"},` +
				`"error_response":{"code":"` + echo + `","msg":"` + echo + `"},"code":"4","message":"` + echo + `"}`
			answers := good(name)
			answers[step.path][step.nth] = ok(text)
			c, _ := scripted(t, name, answers)
			p, err := c.Finish(t.Context(), back, returned(name))
			if decorates(name, i) && err == nil && p.Unread != "" {
				err = errors.New(p.Unread) // which is logged
			}
			checkSilent(t, fmt.Sprint(name, " answer ", i), err, i > 0)
		}
		c := connect(t, name, &http.Client{Transport: failingTransport{}})
		_, err := c.Finish(t.Context(), back, returned(name))
		checkSilent(t, name+" unreachable", err, false)
		if !strings.Contains(err.Error(), "could not be asked: no way") {
			t.Errorf("%s: %v, want the cause without the address that net/http puts before it", name, err)
		}
	}
}

// failingTransport quotes the whole request, as a transport of a host might.
type failingTransport struct{}

func (failingTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	r.ParseForm()
	return nil, fmt.Errorf("no way to %s with %s", r.URL, r.Form.Encode())
}

func checkSilent(t *testing.T, what string, err error, knowsToken bool) {
	t.Helper()
	if err == nil {
		t.Errorf("%s: no error", what)
		return
	}
	hidden := []string{secret, code}
	if knowsToken {
		hidden = append(hidden, "the-access-token", "the-refresh-token")
	}
	for inner := err; inner != nil; inner = errors.Unwrap(inner) {
		for _, s := range hidden {
			if strings.Contains(fmt.Sprintf("%v %+v %#v", inner, inner, inner), s) {
				t.Errorf("%s: %v tells %s", what, inner, s)
			}
		}
	}
	if strings.ContainsAny(err.Error(), "\r\n") || len(err.Error()) > 600 {
		t.Errorf("%s: %q is not one short line", what, err)
	}
}
