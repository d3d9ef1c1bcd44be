package demo

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
)

// provider talks to the OAuth endpoints for one visitor.
type provider struct {
	base   string
	client *http.Client
	r      *http.Request
}

// ask makes a provider for the visitor behind r.
func (d *Demo) ask(r *http.Request) provider {
	return provider{base: d.base, r: r, client: &http.Client{Transport: inProcess{d.provider, r}}}
}

func (p provider) post(path string, form url.Values) ([]byte, error) {
	req, err := http.NewRequestWithContext(p.r.Context(), http.MethodPost, p.base+path, strings.NewReader(form.Encode()))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	return p.do(req)
}

func (p provider) get(path, bearer string) ([]byte, error) {
	req, err := http.NewRequestWithContext(p.r.Context(), http.MethodGet, p.base+path, nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Authorization", "Bearer "+bearer)
	return p.do(req)
}

// do returns the body of a 200, or what the provider complains about.
func (p provider) do(req *http.Request) ([]byte, error) {
	resp, err := p.client.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	if err != nil || resp.StatusCode == http.StatusOK {
		return body, err
	}
	var said struct{ Error, Msg string }
	json.Unmarshal(body, &said) // a body that is no JSON says nothing
	no := refused.Saying(fmt.Sprintf("%s answered %d: %s %s", req.URL.Path, resp.StatusCode, said.Error, said.Msg))
	if resp.StatusCode >= http.StatusInternalServerError {
		no.Status = http.StatusServiceUnavailable
	}
	return nil, no
}

// inProcess lets a handler of this process answer. The request counts as the visitor's, so
// that limits by address see who caused it.
type inProcess struct {
	handler http.Handler
	visitor *http.Request
}

func (p inProcess) RoundTrip(out *http.Request) (*http.Response, error) {
	in := out.Clone(out.Context())
	in.Host = out.URL.Host
	in.RequestURI = out.URL.RequestURI()
	in.RemoteAddr = p.visitor.RemoteAddr
	if forwarded := p.visitor.Header.Values("X-Forwarded-For"); len(forwarded) > 0 {
		in.Header["X-Forwarded-For"] = forwarded
	}
	if in.Body == nil {
		in.Body = http.NoBody
	}
	rec := &recorder{header: http.Header{}, status: http.StatusOK}
	p.handler.ServeHTTP(rec, in)
	return &http.Response{
		Status: http.StatusText(rec.status), StatusCode: rec.status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: rec.header, Body: io.NopCloser(&rec.body), ContentLength: int64(rec.body.Len()), Request: out,
	}, nil
}

// recorder keeps an answer.
type recorder struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (r *recorder) Header() http.Header         { return r.header }
func (r *recorder) WriteHeader(status int)      { r.status = status }
func (r *recorder) Write(b []byte) (int, error) { return r.body.Write(b) }
