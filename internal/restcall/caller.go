package restcall

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/keystile/keystile/internal/callerhead"
)

// Config holds the parameters of New.
type Config struct {
	// Transport sends requests; that of a netguard.Guard, so that no call reaches the
	// inside of the network. Required.
	Transport http.RoundTripper

	MaxResponse int64         // bytes of an answer's body, after decompression; 0: 1 MiB
	Timeout     time.Duration // of a call, with its retry, to the end of the answer; 0: 30 s
}

// Caller sends calls of tools. It is safe for concurrent use and starts no goroutine.
type Caller struct {
	transport   http.RoundTripper
	maxResponse int64
	timeout     time.Duration
}

// New returns a Caller. Its error names everything that is wrong with the Config.
func New(c Config) (*Caller, error) {
	var errs []error
	if c.Transport == nil {
		errs = append(errs, errors.New("restcall: Transport is missing: give that of a netguard.Guard"))
	}
	if c.MaxResponse < 0 {
		errs = append(errs, errors.New("restcall: MaxResponse is negative: 0 means 1 MiB"))
	}
	if c.Timeout < 0 {
		errs = append(errs, errors.New("restcall: Timeout is negative: 0 means 30 s"))
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	if c.MaxResponse == 0 {
		c.MaxResponse = 1 << 20
	}
	if c.Timeout == 0 {
		c.Timeout = 30 * time.Second
	}
	return &Caller{c.Transport, c.MaxResponse, c.Timeout}, nil
}

// Call builds and sends the request of a call. Refused arguments and failures are results;
// the only error is that ctx ended, and with it whoever waits for a result.
func (c *Caller) Call(ctx context.Context, to Upstream, p *Plan, arguments json.RawMessage) (Result, error) {
	r, err := p.Build(to, arguments)
	if err != nil {
		return failed(err.Error()), nil
	}
	if told := callerhead.From(ctx); told.Header != nil {
		told.Mark(r.header)
		r.credential = r.credential.Hiding(told.Hide)
	}
	return c.Do(ctx, r)
}

// Do sends a request and reads its answer. Its only error is that ctx ended.
func (c *Caller) Do(ctx context.Context, r *Request) (Result, error) {
	timeout := cmp.Or(r.timeout, c.timeout)
	call, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	resp, err := c.send(call, r)
	var result Result
	if err == nil {
		result, err = c.read(call, resp, r)
	}
	if ctx.Err() != nil {
		return Result{}, context.Cause(ctx)
	}
	switch {
	case err != nil && call.Err() != nil:
		result = toFailure(&errTimeout{timeout, err}, r)
	case err != nil:
		result = toFailure(err, r)
	}
	result.Dispatched = true
	if len(r.ignored) > 0 {
		result.Content = append(result.Content, textResult("Ignored, since the tool takes no such argument: %s.",
			strings.Join(r.ignored, ", "))...)
	}
	return result, nil
}
