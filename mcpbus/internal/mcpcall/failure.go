package mcpcall

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/keystile/keystile/internal/netguard"
)

// Failure describes why an upstream could not be listed or called. Its text may be shown to
// everybody: it contains neither the upstream's address nor its secret, and little of the
// upstream's own words.
type Failure struct {
	Text  string
	Cause error // why there is no answer. For the log: it may name the upstream's address
}

func (f *Failure) Error() string { return f.Text }
func (f *Failure) Unwrap() error { return f.Cause }

// Public returns the text, which may be shown to everybody: the registry tells it to those who register.
func (f *Failure) Public() string { return f.Text }

func failf(format string, args ...any) *Failure { return &Failure{Text: fmt.Sprintf(format, args...)} }

// errTimeout is the cause when our own time limit has passed, rather than the caller's.
var errTimeout = errors.New("mcpcall: the time is up")

// timedOut returns the failure of a call that exceeded its time limit.
func timedOut(after time.Duration, err error) *Failure {
	f := failf("the upstream did not answer within %v: try again, or ask for less; its owner can register it with a "+
		"longer timeout", after)
	f.Cause = errors.Join(errTimeout, err)
	return f
}

// toFailure converts any error to a Failure.
func toFailure(err error) *Failure {
	var why string
	done, refused, slow, cert, long := (*Failure)(nil), (*netguard.Refused)(nil), net.Error(nil),
		(*tls.CertificateVerificationError)(nil), (*tooLong)(nil)
	switch {
	case errors.As(err, &done):
		return done
	case errors.As(err, &refused):
		why = refused.Error() + ": the upstream is not on the public network; the operator of this service can admit it " +
			"(upstreams.allow_private)"
	case errors.Is(err, errTimeout):
		why = "the upstream did not answer within the time allowed: try again, or ask for less"
	case errors.As(err, &slow) && slow.Timeout():
		why = "the upstream did not answer in time: try again later"
	case errors.As(err, &cert):
		why = "the TLS certificate of the upstream is not valid: its owner must renew it"
	case errors.As(err, &long):
		why = long.text()
	case errors.Is(err, errEncoding):
		why = "the upstream's answer has a content encoding that was not asked for"
	case errors.Is(err, errNoMCP):
		why = "the upstream's answer is not an MCP message: check that its URL is that of an MCP endpoint"
	case errors.Is(err, errCutOff):
		why = "the upstream's answer broke off: try again"
	default:
		why = "the upstream could not be reached: try again later"
	}
	return &Failure{why, err}
}

// refusal converts a response without a result to a Failure.
func (t *target) refusal(r *response) *Failure {
	switch {
	case 300 <= r.status && r.status < 400:
		return failf("the upstream redirects (%s), which is not followed: its owner must register the URL where it ends",
			r.summary())
	case r.status == http.StatusUnauthorized || r.status == http.StatusForbidden:
		return failf("the upstream refuses its credential (HTTP %d): its owner must register it again with a valid "+
			"auth_secret", r.status)
	case r.status == http.StatusTooManyRequests || r.status == http.StatusServiceUnavailable:
		return failf("the upstream is busy (HTTP %d): try again later", r.status)
	case r.status == http.StatusLoopDetected:
		return failf("the upstream leads back to the service that calls it (HTTP %d): its owner must register the service "+
			"that is meant", r.status)
	case r.fault != nil:
		return failf("the upstream refused the request with error %d: %s", r.fault.code, t.redactAddresses(r.fault.message))
	}
	return failf("the upstream refused the request: %s", r.summary())
}
