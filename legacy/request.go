package legacy

import (
	"errors"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/keystile/keystile/internal/reply"
	"github.com/keystile/keystile/internal/reqctx"
	"github.com/keystile/keystile/storage/event"
)

// call is the state of a request in this package.
type call struct {
	*http.Request
	params url.Values // not checked for repetition before the application is known
	known  []string   // the names among them that mean something here
	event  event.Event
}

// act handles one value of the parameter act.
type act func(w http.ResponseWriter, c *call) error

// The parameters of the two endpoints, for all acts. A signed text must not hide one of them
// in another.
var (
	connectNames = []string{"act", "appid", "appkey", "type", "redirect_uri", "state", "code", "social_uid",
		"timestamp", "sign"}
	checkTokenNames = []string{"access_token", "token", "appid", "appkey", "timestamp", "sign"}
)

// connect serves /connect.php (protocol 4.10).
func (l *Legacy) connect(w http.ResponseWriter, r *http.Request) error {
	return l.serve(w, r, connectNames, func(w http.ResponseWriter, c *call) error {
		name := c.params.Get("act")
		act, known := l.acts[name]
		if !known {
			return badParameter.Saying("act is none of login, callback, query, check_sso")
		}
		c.event.Detail = name
		return act(w, c)
	})
}

// serve reads a request, handles it and records the outcome.
func (l *Legacy) serve(w http.ResponseWriter, r *http.Request, known []string, do act) (err error) {
	c := &call{Request: r, known: known, event: reqctx.Event(r, event.Legacy, l.c.ClientIP(r))}
	c.event.Anonymous = true // until an application or a user is proven
	defer func() {
		c.event.Latency, c.event.Status = time.Since(c.event.At), http.StatusOK
		if err != nil {
			c.event.Status = reply.FailureOf(err).Status
		}
		l.c.Audit.Note(c.event)
	}()
	if c.params, err = parameters(w, r); err != nil {
		return err
	}
	reply.NoStore(w)
	return do(w, c)
}

const (
	maxForm  = 64 << 10 // bytes of a query and of a body
	maxState = 2048     // bytes; it goes through several URLs
	formCT   = "application/x-www-form-urlencoded"
)

// parameters returns those of the query and, for a POST, of the form body too.
func parameters(w http.ResponseWriter, r *http.Request) (url.Values, error) {
	text := r.URL.RawQuery
	if len(text) > maxForm {
		return nil, badParameter.Saying("the query is too long")
	}
	if r.Method == http.MethodPost && r.ContentLength != 0 {
		if ct, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || ct != formCT {
			return nil, badParameter.Saying("the Content-Type of a POST must be " + formCT)
		}
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxForm))
		if err != nil {
			return nil, badBody(err)
		}
		text += "&" + string(body)
	}
	params, err := url.ParseQuery(text)
	if err != nil {
		return nil, badParameter.Saying("the parameters are not properly URL-encoded")
	}
	for name, values := range params {
		all := name + strings.Join(values, "")
		if !utf8.ValidString(all) || strings.Contains(all, "\x00") {
			return nil, badParameter.Saying("a parameter is not UTF-8, or holds a zero byte")
		}
	}
	return params, nil
}

// badBody returns the refusal of a body that could not be read: too large, or cut off.
func badBody(err error) error {
	if big := (*http.MaxBytesError)(nil); errors.As(err, &big) {
		return err
	}
	return badParameter.Saying("the request body could not be read").Because(err)
}

// refuseDuplicates refuses a request with a parameter that is sent twice: PHP reads the last, others the
// first.
func refuseDuplicates(params url.Values) error {
	for _, values := range params {
		if len(values) > 1 {
			return badParameter.Saying("a parameter is sent more than once")
		}
	}
	return nil
}
