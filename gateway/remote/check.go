package remote

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/keystile/keystile/internal/cache"
)

// maxChecks is the number of checks that may run at a time.
const maxChecks = 16

// checks caches the service's verdicts on tokens, by their hash.
type checks struct {
	slots  chan struct{}
	result *cache.Cache[[sha256.Size]byte, checked]
}

type checked struct {
	until time.Time
	err   error // nil: it was good
}

func newChecks(size int) checks {
	return checks{make(chan struct{}, maxChecks), cache.New[[sha256.Size]byte, checked](cmp.Or(size, 100_000))}
}

// of returns the cached verdict on a token, if it is still fresh.
func (c checks) of(sum [sha256.Size]byte, now time.Time) (checked, bool) {
	result, there := c.result.Get(sum)
	return result, there && now.Before(result.until)
}

var errRevoked = errors.New("the service refuses the token")

// check asks the service about a token that is valid by itself. The verdict is cached for
// CheckEvery, good or bad.
func (v *Verifier) check(ctx context.Context, bearer string, expires time.Time) error {
	sum := sha256.Sum256([]byte(bearer))
	if result, there := v.checks.of(sum, time.Now()); there {
		return result.err
	}
	select {
	case v.checks.slots <- struct{}{}:
		defer func() { <-v.checks.slots }()
	case <-ctx.Done():
		return unavailable(fmt.Errorf("wait to ask about a token: %w", ctx.Err()))
	}
	began := time.Now()
	if result, there := v.checks.of(sum, began); there { // checked meanwhile by another goroutine
		return result.err
	}
	resp, end, err := v.get(ctx, pathVerify, bearer)
	if err != nil {
		return unavailable(err)
	}
	defer end()
	result := checked{until: began.Add(v.c.CheckEvery)}
	if expires.Before(result.until) {
		result.until = expires
	}
	switch resp.StatusCode {
	case http.StatusOK:
	case http.StatusUnauthorized:
		result.err = refused(errRevoked)
	case http.StatusTooManyRequests:
		return &Error{Status: resp.StatusCode, RetryAfter: retryAfter(resp.Header),
			Err: errors.New("the application is over its rate at the service")}
	default:
		return unavailable(fmt.Errorf("GET %s%s is answered with %d", v.c.BaseURL, pathVerify, resp.StatusCode))
	}
	v.checks.result.Put(sum, result)
	return result.err
}

// retryAfter reads how many seconds to wait: 1 to 60.
func retryAfter(h http.Header) time.Duration {
	n, _ := strconv.Atoi(h.Get("Retry-After")) // 0: not a number
	return time.Duration(min(max(n, 1), 60)) * time.Second
}
