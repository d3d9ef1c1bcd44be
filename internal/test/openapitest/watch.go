package openapitest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"mime"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"testing"
)

// Watch returns a handler that fails the test if h answers otherwise than the document
// says. Paths that the document does not have are not looked at.
func (w *Checker) Watch(t testing.TB, h http.Handler) http.Handler {
	return http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		sent := &request{r.Method, r.URL.Path, r.URL.RawQuery, r.Header.Clone(), readAll(t, r.Body)}
		r.Body = io.NopCloser(bytes.NewReader(sent.body))
		recorder := httptest.NewRecorder()
		h.ServeHTTP(recorder, r)
		w.report(t, sent, &answer{recorder.Code, recorder.Header(), recorder.Body.Bytes()})
		maps.Copy(out.Header(), recorder.Header())
		out.WriteHeader(recorder.Code)
		out.Write(recorder.Body.Bytes())
	})
}

// Transport is Watch for a service that is asked over the network. It is not for streams.
func (w *Checker) Transport(t testing.TB, next http.RoundTripper) http.RoundTripper {
	return transport(func(r *http.Request) (*http.Response, error) {
		sent := &request{r.Method, r.URL.Path, r.URL.RawQuery, r.Header.Clone(), nil}
		if r.Body != nil {
			sent.body = readAll(t, r.Body)
			r.Body = io.NopCloser(bytes.NewReader(sent.body))
		}
		resp, err := next.RoundTrip(r)
		if err != nil {
			return resp, err
		}
		body := readAll(t, resp.Body)
		resp.Body.Close()
		resp.Body = io.NopCloser(bytes.NewReader(body))
		w.report(t, sent, &answer{resp.StatusCode, resp.Header, body})
		return resp, nil
	})
}

type transport func(*http.Request) (*http.Response, error)

func (f transport) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func readAll(t testing.TB, from io.Reader) []byte {
	raw, err := io.ReadAll(from)
	if err != nil {
		t.Error(err)
	}
	return raw
}

func (w *Checker) report(t testing.TB, r *request, a *answer) {
	op, known := of(w.operations, r)
	if !known {
		return
	}
	if err := w.checkResponse(op, r, a); err != nil {
		t.Errorf("%s %s = %d, not as /openapi.json says: %v", r.method, r.path, a.code, err)
	}
}

// request is a copy of a request before its body was read.
type request struct {
	method, path, query string
	header              http.Header
	body                []byte
}

type answer struct {
	code   int
	header http.Header
	body   []byte
}

// checkResponse says in which way an answer is not as described.
func (w *Checker) checkResponse(op operation, r *request, a *answer) error {
	if op.id == "" { // the path has other methods
		if a.code == http.StatusMethodNotAllowed || a.code == http.StatusUnauthorized || r.method == http.MethodOptions &&
			a.code == http.StatusNoContent || a.code == http.StatusTooManyRequests {
			return nil
		}
		return errors.New("the method is not described")
	}
	if r.method == http.MethodHead && a.code == http.StatusMethodNotAllowed {
		return nil // HEAD is refused: see Routes
	}
	responses, _ := op.node["responses"].(object)
	described, there := responses[strconv.Itoa(a.code)]
	if !there {
		if described = responses["default"]; described == nil || a.code < 400 {
			return errors.New("the status is not described")
		}
	}
	if succeeded(a) {
		if err := w.checkRequest(op, r); err != nil {
			return err
		}
		w.mu.Lock()
		w.seen[op.id] = true
		w.mu.Unlock()
	}
	return w.answered(w.follow(described), r.method == http.MethodHead, a)
}

// succeeded reports whether an answer is a yes. Old endpoints refuse with status 200.
func succeeded(a *answer) bool {
	body, _ := objectOf(a.body)
	return a.code < 400 && body["errcode"] == nil
}

// answered checks an answer against the description of its status.
func (w *Checker) answered(described object, head bool, a *answer) error {
	headers, _ := described["headers"].(object)
	for name, h := range headers {
		value, header := a.header.Values(name), w.follow(h)
		if len(value) == 0 && header["required"] == true {
			return fmt.Errorf("the header %s is not there", name)
		}
		for _, v := range value {
			if err := w.fits(header["schema"], v); err != nil {
				return fmt.Errorf("the header %s: %w", name, err)
			}
		}
	}
	content, _ := described["content"].(object)
	kind, _, _ := mime.ParseMediaType(a.header.Get("Content-Type"))
	media, there := content[kind].(object)
	switch {
	case content == nil && len(a.body) == 0 || head:
		return nil
	case !there:
		return fmt.Errorf("the media type %q is not described", kind)
	case kind != "application/json":
		return nil
	}
	return w.valid(media["schema"], a.body)
}

// valid checks JSON against a schema.
func (w *Checker) valid(schema any, raw []byte) error {
	v, err := parse(raw)
	if err != nil {
		return err
	}
	compiled, err := w.schema(schema)
	if err != nil {
		return err
	}
	return compiled.Validate(v)
}

// fits checks a text against the schema of a parameter or header.
func (w *Checker) fits(schema any, value string) error {
	compiled, err := w.schema(schema)
	if err != nil {
		return err
	}
	var v any = value
	if n, err := parse([]byte(value)); err == nil && w.follow(schema)["type"] != "string" {
		v = n
	}
	return compiled.Validate(v)
}

// checkRequest checks a request that succeeded: everything it sent is described, and everything
// required is there.
func (w *Checker) checkRequest(op operation, r *request) error {
	query, err := url.ParseQuery(r.query)
	if err != nil {
		return err
	}
	names := map[string]object{}
	for _, p := range w.parameters(op) {
		name := p["name"].(string)
		if p["in"] == "query" {
			names[name] = p
		}
		if p["required"] == true && (p["in"] == "query" && !query.Has(name) || p["in"] == "header" &&
			r.header.Get(name) == "") {
			return fmt.Errorf("it succeeds without the parameter %s, which is required", name)
		}
	}
	for name, values := range query {
		if names[name] == nil {
			return fmt.Errorf("it takes the parameter %s, which is not described", name)
		}
		for _, v := range values {
			if err := w.fits(names[name]["schema"], v); err != nil {
				return fmt.Errorf("the parameter %s: %w", name, err)
			}
		}
	}
	return w.brought(op, r)
}

// brought checks the body of a request.
func (w *Checker) brought(op operation, r *request) error {
	body := w.follow(op.node["requestBody"])
	content, _ := body["content"].(object)
	kind, _, _ := mime.ParseMediaType(r.header.Get("Content-Type"))
	if kind == "" && len(content) == 1 && len(r.body) > 0 {
		kind = slices.Collect(maps.Keys(content))[0]
	}
	media, _ := content[kind].(object)
	switch {
	case media != nil && kind == "application/x-www-form-urlencoded":
		form, err := url.ParseQuery(string(r.body))
		if err != nil {
			return err
		}
		return w.form(w.follow(media["schema"]), form)
	case len(r.body) == 0 && body["required"] == true:
		return errors.New("it succeeds without a body, which is required")
	case len(r.body) == 0 || op.anyMethod:
		return nil
	case media == nil:
		return fmt.Errorf("it takes a body of %q, which is not described", kind)
	}
	return w.valid(media["schema"], r.body)
}

func (w *Checker) form(schema object, form url.Values) error {
	fields, _ := schema["properties"].(object)
	required, _ := schema["required"].([]any)
	for name := range form {
		if fields[name] == nil {
			return fmt.Errorf("it takes the field %s, which is not described", name)
		}
		if err := w.fits(fields[name], form.Get(name)); form.Get(name) != "" && err != nil {
			return fmt.Errorf("the field %s: %w", name, err)
		}
	}
	for _, name := range required {
		if !form.Has(name.(string)) {
			return fmt.Errorf("it succeeds without the field %s, which is required", name)
		}
	}
	return nil
}
