package connector

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/keystile/keystile/storage"
)

const (
	maxBody       = 1 << 20          // bytes of an answer
	maxCode       = 1024             // bytes of a code
	finishTimeout = 10 * time.Second // for all requests of one Finish
)

// base holds what all connectors share.
type base struct {
	name      string
	id        string
	secret    storage.Secret
	client    *http.Client
	closeIdle func() // after each Finish
	meanings  map[string]meaning
	fault     func(object) (code, text string) // the error in an answer, "" if there is none
}

// meaning explains an error code of a provider.
type meaning struct {
	err  error  // ErrDenied, ErrCode or nil: trouble
	hint string // for the operator
}

func (u *base) Name() string  { return u.name }
func (u *base) Label() string { return "" }

// addParams appends parameters to an endpoint, which may have a query of its own.
func addParams(endpoint string, params url.Values) string {
	if len(params) == 0 {
		return endpoint
	}
	glue := "?"
	if strings.Contains(endpoint, "?") {
		glue = "&"
	}
	return endpoint + glue + params.Encode()
}

// open reads the code that the browser brought back, and begins an exchange. The caller must
// call done.
func (u *base) open(ctx context.Context, query url.Values,
	param string) (_ context.Context, t *exchange, done func(), err error) {
	t = &exchange{base: u, hidden: []string{u.secret.Reveal()}}
	codes := query[param]
	switch {
	case len(codes) == 0 || len(codes) == 1 && codes[0] == "":
		return nil, nil, nil, t.withoutCode(query)
	case len(codes) > 1 || len(codes[0]) > maxCode || strings.ContainsFunc(codes[0],
		func(r rune) bool { return r <= ' ' || r >= 0x7f }):
		return nil, nil, nil, fmt.Errorf("%s: the browser brought no code that could be one: %w", u.name, ErrCode)
	}
	t.code = codes[0]
	t.hide(t.code)
	ctx, cancel := context.WithTimeout(ctx, finishTimeout)
	return ctx, t, func() { cancel(); u.closeIdle() }, nil
}

// withoutCode returns the error for a browser that came back without a code. After a denial it
// comes back with the state alone, or with access_denied; any other error is a Trouble.
func (t *exchange) withoutCode(query url.Values) error {
	code := query.Get("error")
	if code == "" || code == "access_denied" || query.Get("usercancel") != "" {
		return fmt.Errorf("%s: %w", t.name, ErrDenied)
	}
	return t.trouble(oneLine(code), "sent the browser back: "+query.Get("error_description"))
}

// exchange holds one call of Finish: its code, and the secrets that its errors must not quote.
type exchange struct {
	*base
	code   string
	hidden []string
	unread string // why the profile could not be read
	forged bool   // an answer was not signed as it must be
}

// hide keeps a secret out of errors. Very short ones would match by chance.
func (t *exchange) hide(secret string) {
	if len(secret) >= 6 {
		t.hidden = append(t.hidden, secret)
	}
}

// redact returns a text of the provider, or about it, without the secrets.
func (t *exchange) redact(text string) string {
	for _, s := range t.hidden {
		if s != "" {
			text = strings.NewReplacer(s, "[secret]", url.QueryEscape(s), "[secret]").Replace(text)
		}
	}
	return oneLine(text)
}

func (t *exchange) trouble(code, text string) *Trouble {
	return &Trouble{Provider: t.name, Code: t.redact(code), Text: t.redact(text)}
}

// refused returns the error for an error code of the provider.
func (t *exchange) refused(code, text string) error {
	m := t.meanings[code]
	if m.err != nil {
		return fmt.Errorf("%s: %s: %s: %w", t.name, t.redact(code), t.redact(text), m.err)
	}
	trouble := t.trouble(code, text)
	if m.hint != "" {
		trouble.Text = oneLine(trouble.Text) + " (" + m.hint + ")"
	}
	return trouble
}

// response is the answer of a provider before it is parsed.
type response struct {
	status int
	body   []byte
}

func (t *exchange) get(ctx context.Context, endpoint string, params url.Values, header http.Header) (response, error) {
	return t.send(ctx, http.MethodGet, addParams(endpoint, params), "", "", header)
}

// post sends a form. Header may be nil.
func (t *exchange) post(ctx context.Context, endpoint string, params url.Values, header http.Header) (response, error) {
	return t.send(ctx, http.MethodPost, endpoint, "application/x-www-form-urlencoded;charset=utf-8", params.Encode(),
		header)
}

// postJSON sends an object of texts.
func (t *exchange) postJSON(ctx context.Context, endpoint string, members map[string]string) (response, error) {
	body, _ := json.Marshal(members) // texts always can be
	return t.send(ctx, http.MethodPost, endpoint, "application/json; charset=utf-8", string(body), nil)
}

// send makes one request; kind is the media type of its body, "" if it has none.
func (t *exchange) send(ctx context.Context, method, address, kind, content string,
	header http.Header) (response, error) {
	r, err := http.NewRequestWithContext(ctx, method, address, strings.NewReader(content))
	if err != nil {
		return response{}, t.trouble("", "its address cannot be asked")
	}
	for name, values := range header {
		r.Header[name] = values
	}
	if kind != "" {
		r.Header.Set("Content-Type", kind)
	}
	r.Header.Set("Accept", "application/json, */*;q=0.1")
	r.Header.Set("User-Agent", "keystile")
	resp, err := t.client.Do(r)
	if err != nil {
		return response{}, t.unreachable(err)
	}
	defer resp.Body.Close()
	if s := resp.StatusCode; s >= 500 || s >= 300 && s < 400 {
		return response{}, t.status(s)
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxBody+1))
	switch {
	case err != nil:
		return response{}, t.unreachable(err)
	case len(body) > maxBody:
		return response{}, t.trouble("", "answered more than 1 MiB")
	}
	return response{resp.StatusCode, body}, nil
}

func (t *exchange) status(status int) *Trouble {
	return t.trouble("http "+strconv.Itoa(status), "answered "+strings.ToLower(http.StatusText(status)))
}

// unreachable returns the error for a request without an answer. A *url.Error quotes the address,
// and with it the secret, so only its cause is used.
func (t *exchange) unreachable(err error) *Trouble {
	if quoting := new(url.Error); errors.As(err, &quoting) {
		err = quoting.Err
	}
	trouble := t.trouble("", "could not be asked: "+err.Error())
	for _, cause := range []error{context.Canceled, context.DeadlineExceeded} {
		if errors.Is(err, cause) {
			trouble.cause = cause
		}
	}
	return trouble
}

// object reads an answer that is an object, as the provider writes errors.
func (t *exchange) object(a response, err error) (object, error) {
	if err != nil {
		return nil, err
	}
	return t.parse(a, parseObject, t.fault)
}

// parse reads an answer. Fault returns the error in it, if there is one, which counts whatever
// the status is.
func (t *exchange) parse(a response, parse func([]byte) (object, bool),
	fault func(object) (code, text string)) (object, error) {
	o, ok := parse(a.body)
	if code, text := fault(o); ok && code != "" {
		return nil, t.refused(code, text)
	}
	switch {
	case a.status != http.StatusOK:
		return nil, t.status(a.status)
	case !ok:
		return nil, t.trouble("", "answered what cannot be read")
	}
	return o, nil
}

// token reads the access token of an answer that must have the other members too. It
// keeps the tokens in it out of errors.
func (t *exchange) token(o object, others ...string) (string, error) {
	token := o.text("access_token")
	t.hide(token)
	t.hide(o.text("refresh_token"))
	for _, name := range append(others, "access_token") {
		if o.text(name) == "" {
			return "", t.trouble("", "answered without "+name)
		}
	}
	return token, nil
}

// show returns the error of a request for what is only shown of a user, whose identity is known by an earlier
// answer. If it failed, they come in without a nickname: the error is nil, and the profile says why. A stranger stays
// one, a user who has gone away is not waited for, and a forged answer lets nobody in.
func (t *exchange) show(err error) error {
	trouble := new(Trouble)
	switch {
	case err == nil:
		return nil
	case t.forged:
		return err
	case errors.As(err, &trouble) && !errors.Is(err, context.Canceled), errors.Is(err, ErrCode), errors.Is(err, ErrDenied):
		t.unread = t.redact(err.Error())
		return nil
	}
	return err
}

// profile completes a profile with the subjects, which the two answers must agree on.
func (t *exchange) profile(a, b identity, p Profile) (Profile, error) {
	who, ok := a.merge(b)
	if !ok {
		return Profile{}, t.trouble("", "told of two different people")
	}
	p.Subjects = who.subjects(t.id)
	if p.Subjects == nil {
		return Profile{}, t.trouble("", "told of nobody by an id that can be used")
	}
	if b == (identity{}) && t.unread == "" {
		t.unread = t.trouble("", "told of nobody").Error()
	}
	p.Nickname, p.Unread = oneLine(p.Nickname), t.unread
	return p, nil
}
