package restcall

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/keystile/keystile/internal/hop"
)

// Limits of one request, in bytes.
const (
	maxTarget = 16 << 10 // path and query
	maxHeader = 8 << 10  // one value
)

// Request is a request that may be sent. It holds the upstream's secret.
type Request struct {
	method     string
	url        url.URL
	header     http.Header
	body       []byte
	credential Credential
	timeout    time.Duration // of the call; 0: the Caller's
	ignored    []string      // arguments that are known to be a client's, and not meant
	tells      []string      // headers of the answer that are shown beside those of every answer
}

// String says little: a URL and headers may hold the secret.
func (r *Request) String() string { return "a " + r.method + " request to an upstream" }

// Refusal says why a call is no request. Its text is for the model and its user: it names
// the arguments, and neither the upstream nor its secret.
type Refusal struct{ Text string }

func (r *Refusal) Error() string { return r.Text }

// Build writes the request of a call. Arguments are a JSON object of at most 4 MiB and 64
// levels; nothing, or null, stands for {}. Its only errors are a *Refusal.
func (p *Plan) Build(to Upstream, arguments json.RawMessage) (*Request, error) {
	upstream := to.reading()
	if upstream.err != nil {
		return nil, misconfigured(upstream.err)
	}
	credential := upstream.credential
	var c complaints
	values, ignored := p.read(arguments, &c)
	r := &Request{
		method: p.method, ignored: ignored, header: make(http.Header, len(p.headers)+4), credential: credential,
		timeout: to.Timeout, tells: p.tells,
	}
	in := p.names.naming(p, &c)
	p.writeURL(r, upstream.base, values, in)
	p.writeHeaders(r, values, &c)
	p.writeCookies(r, values, &c)
	if p.body != nil && len(c) == 0 {
		var contentType string
		if r.body, contentType = p.body.write(values, p, in); contentType != "" {
			r.header["Content-Type"] = []string{contentType}
		}
	}
	if len(c) > 0 {
		return nil, &Refusal{"The call was not sent: " + strings.Join(c, "; ") + "."}
	}
	if cookies := r.header["Cookie"]; credential.Header == "Cookie" && cookies != nil {
		r.header["Cookie"] = []string{credential.Text + "; " + cookies[0]}
	} else if credential.Header != "" {
		r.header[credential.Header] = []string{credential.Text}
	}
	credential.SetMore(r.header)
	return r, nil
}

func misconfigured(err error) *Refusal {
	return &Refusal{"The call was not sent, because the tool's upstream is not set up correctly: " + err.Error() +
		". Its owner must register it again."}
}

func (p *Plan) writeURL(r *Request, base *url.URL, values arguments, in *naming) {
	c := in.c
	path := append(make([]byte, 0, 128), strings.TrimRight(base.EscapedPath(), "/")...)
	path = p.template.expand(path, values, p.template.names.naming(p, c))
	q := newQuery(in, r.credential.Query, base.RawQuery, p.template.query)
	for i := range p.query {
		param := &p.query[i]
		if !values.given(param.arg, p) {
			continue
		}
		q.begin(param)
		if fault := appendQuery(q, param.Param, values[param.arg]); fault != "" {
			c.add("argument %q must %s", param.Arg, fault)
		}
		if q.odd {
			c.add("argument %q must have no control characters: it is sent in the query", param.Arg)
			q.odd = false
		}
	}
	if p.whole != nil && values.given(p.whole.arg, p) {
		q.whole(textOf(values[p.whole.arg], p.whole.JSON))
	}
	if len(path)+len(q.text) > maxTarget {
		c.add("the arguments make a URL of more than %d bytes: shorten them", maxTarget)
	}
	if r.credential.Query != "" {
		q.credential(r.credential.Text)
	}
	r.url = url.URL{Scheme: base.Scheme, Host: base.Host, RawPath: string(path), RawQuery: string(q.text)}
	r.url.Path, _ = url.PathUnescape(r.url.RawPath) // we encoded it
}

func (p *Plan) writeHeaders(r *Request, values arguments, c *complaints) {
	r.header["Accept"] = p.accept
	r.header["User-Agent"] = userAgent
	for _, h := range p.headers {
		if !values.given(h.arg, p) || r.credential.sets(h.Name) != "" {
			continue
		}
		v := valueOf(values[h.arg], h.JSON)
		text := string(v.join(nil, ",", h.Explode, escapeNothing))
		fault := v.joinFault(",", h.Explode, true)
		switch {
		case fault != "":
			c.add("argument %q must %s", h.Arg, fault)
		case !plain(text):
			c.add("argument %q must have no control characters: it is sent as a header", h.Arg)
		case len(text) > maxHeader:
			c.add("argument %q must have at most %d bytes: it is sent as a header", h.Arg, maxHeader)
		default:
			r.header[h.Name] = []string{text}
		}
	}
}

// sameHeader reports whether a server may take one header for the other: only letters and digits count
// (decision 94).
func sameHeader(a, b string) bool { return b != "" && inOneWord(a) == inOneWord(b) }

// Shared by all requests; a RoundTripper does not change headers.
var (
	anything  = []string{"application/json, */*;q=0.8"}
	userAgent = []string{"keystile"}
)

// reads reports a request that changes nothing (RFC 9110 9.2.1).
func (r *Request) reads() bool { return r.method == http.MethodGet || r.method == methodQuery }

// http returns the request for one attempt.
func (r *Request) http(ctx context.Context) *http.Request {
	hop.Mark(ctx, r.header)
	out := &http.Request{Method: r.method, URL: &r.url, Host: r.url.Host, Header: r.header}
	if len(r.body) > 0 {
		out.ContentLength = int64(len(r.body))
		out.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(r.body)), nil }
		out.Body, _ = out.GetBody()
	}
	return out.WithContext(ctx)
}
