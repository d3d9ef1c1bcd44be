package reply

import (
	"context"
	"errors"
	"net/http"

	"github.com/keystile/keystile/internal/connections"
	"github.com/keystile/keystile/storage"
)

// Failure is one way of saying no: what the client sees, and why it came to that.
// Rooms list theirs in failure.go as values and add a cause with Because.
type Failure struct {
	Status  int         // HTTP status (protocol 7)
	Errcode int         // business code (protocol 7); 0: the HTTP status
	OAuth   string      // RFC 6749 error; "": none is written
	Msg     string      // for people: what is wrong and what to do
	Header  http.Header // extra headers, such as WWW-Authenticate
	Crowd   *Crowd      // set where so much is asked for that some is refused; it is no error
	Cause   error       // for the log alone
}

func (f *Failure) Error() string {
	if f.Cause != nil {
		return f.Msg + ": " + f.Cause.Error()
	}
	return f.Msg
}

func (f *Failure) Unwrap() error { return f.Cause }

// Because returns a copy of the failure with a cause.
func (f *Failure) Because(err error) *Failure {
	g := *f
	g.Cause = err
	return &g
}

// Saying returns a copy of the failure with another text for people.
func (f *Failure) Saying(msg string) *Failure {
	g := *f
	g.Msg = msg
	return &g
}

// Named returns a copy of the failure with another OAuth error name.
func (f *Failure) Named(name string) *Failure {
	g := *f
	g.OAuth = name
	return &g
}

// With returns a copy of the failure with one more header.
func (f *Failure) With(key, value string) *Failure {
	g := *f
	g.Header = f.Header.Clone()
	if g.Header == nil {
		g.Header = http.Header{}
	}
	g.Header.Set(key, value)
	return &g
}

// Code is the number in the body: never 0 or 1, which mean success.
func (f *Failure) Code() int {
	if f.Errcode != 0 {
		return f.Errcode
	}
	return f.Status
}

var (
	notFound   = &Failure{Status: http.StatusNotFound, Msg: "no such resource: check the path"}
	notAllowed = &Failure{Status: http.StatusMethodNotAllowed,
		Msg: "this resource has other methods: see the Allow header"}
	tooLarge = &Failure{Status: http.StatusRequestEntityTooLarge, OAuth: "invalid_request",
		Msg: "the request body is too large"}
	unavailable = &Failure{Status: http.StatusServiceUnavailable, OAuth: "temporarily_unavailable",
		Msg: "the store does not answer: try again shortly", Header: http.Header{"Retry-After": {"1"}}}
	// RFC 9110 15.5.9
	slowBody = &Failure{Status: http.StatusRequestTimeout, OAuth: "invalid_request",
		Msg:    "the request's body came too slowly and was given up: send it again over a faster connection",
		Header: http.Header{"Connection": {"close"}}}
	broken = &Failure{Status: http.StatusInternalServerError, OAuth: "server_error",
		Msg: "something failed here: try again, and tell the operator the time of this request"}
)

// FailureOf converts an error to the failure that the client receives.
func FailureOf(err error) *Failure {
	var f *Failure
	var big *http.MaxBytesError
	switch {
	case errors.Is(err, connections.ErrSlow): // however the room words a body that it cannot read
		return slowBody.Because(err)
	case errors.As(err, &f):
		return f
	case errors.As(err, &big):
		return tooLarge.Because(err)
	case errors.Is(err, storage.ErrUnavailable), errors.Is(err, context.Canceled),
		errors.Is(err, context.DeadlineExceeded):
		return unavailable.Because(err)
	}
	return broken.Because(err)
}
