package restcall

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"strconv"
	"sync/atomic"
	"syscall"
	"time"
)

// maxWait bounds what an upstream may ask for with Retry-After.
const maxWait = 2 * time.Second

// send sends a request. A GET is sent once more if nothing was answered, or if the
// upstream says that it is away for a moment; nothing else may be sent twice.
func (c *Caller) send(ctx context.Context, r *Request) (*http.Response, error) {
	if r.method != http.MethodGet {
		return c.transport.RoundTrip(r.http(ctx))
	}
	// net/http itself sends a GET again when a kept connection turns out to be dead.
	var connections atomic.Int32
	traced := httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GotConn: func(httptrace.GotConnInfo) { connections.Add(1) },
	})
	resp, err := c.transport.RoundTrip(r.http(traced))
	wait, again := retry(resp, err)
	if !again || connections.Load() > 1 {
		return resp, err
	}
	if resp != nil {
		resp.Body.Close() // and with it the connection: the rest may be long in coming
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-timer.C:
		return c.transport.RoundTrip(r.http(ctx))
	}
}

// retry says whether a GET may be sent again, and after which wait.
func retry(resp *http.Response, err error) (wait time.Duration, again bool) {
	if err != nil {
		return 0, lost(err)
	}
	switch resp.StatusCode {
	case http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		wait, again = retryAfter(resp.Header.Get("Retry-After"))
		return wait, again && wait <= maxWait
	}
	return 0, false
}

// retryAfter reads seconds or a date (RFC 9110 10.2.3).
func retryAfter(text string) (time.Duration, bool) {
	if seconds, err := strconv.ParseUint(text, 10, 16); err == nil {
		return time.Duration(seconds) * time.Second, true
	}
	at, err := http.ParseTime(text)
	return time.Until(at), err == nil
}

// lost reports whether a connection failed before anything was answered, other than
// by taking too long.
func lost(err error) bool {
	for _, cause := range []error{syscall.ECONNREFUSED, syscall.ECONNRESET, syscall.EPIPE, io.EOF} {
		if errors.Is(err, cause) {
			return true
		}
	}
	dial, slow := (*net.OpError)(nil), net.Error(nil)
	return errors.As(err, &dial) && dial.Op == "dial" && !(errors.As(err, &slow) && slow.Timeout())
}
