package remote

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync/atomic"
	"time"
)

const (
	pathKeys   = "/oauth/jwks"
	maxKeys    = 256 << 10 // bytes of a key set
	pathVerify = "/api/v1/verify"
)

// keys fetches the published keys and records when; the keys themselves are in Published.
type keys struct {
	turn  chan struct{} // held by the goroutine that fetches
	state atomic.Pointer[fetched]
}

// fetched is the last fetch. It does not change; the next one takes its place.
type fetched struct {
	tried time.Time // when it began; zero: never
	good  time.Time // when the last one began that succeeded; zero: never
	err   error     // why this one did not
}

// Ready returns nil if tokens can be verified: the service's keys are there, and not too old.
// It fetches them if need be. With Config.Tokens there is nothing to fetch. The error is an *Error.
func (v *Verifier) Ready(ctx context.Context) error {
	if v.c.Tokens != nil {
		return nil
	}
	return v.ready(ctx)
}

// ready is Ready for what is verified by the keys in any case.
func (v *Verifier) ready(ctx context.Context) error {
	s, now := v.keys.state.Load(), time.Now()
	switch {
	case !s.good.IsZero() && now.Sub(s.good) < v.c.RefreshEvery:
		return nil
	case !s.good.IsZero() && now.Sub(s.good) < v.c.StaleAfter:
		select {
		case v.keys.turn <- struct{}{}: // one fetches, and the others go on
			defer func() { <-v.keys.turn }()
			v.renewInTurn(ctx, s)
		default:
		}
		return nil
	}
	s, err := v.renew(ctx, s)
	if err == nil && (s.good.IsZero() || now.Sub(s.good) >= v.c.StaleAfter) {
		err = errors.New("the service's keys are too old to trust")
	}
	if err != nil {
		return unavailable(err)
	}
	return nil
}

// renew fetches the keys, unless a fetch was tried since they were seen, or a moment ago. It
// waits for a running fetch. It fails if the last try failed.
func (v *Verifier) renew(ctx context.Context, seen *fetched) (*fetched, error) {
	select {
	case v.keys.turn <- struct{}{}:
		defer func() { <-v.keys.turn }()
	case <-ctx.Done():
		return seen, fmt.Errorf("wait for the service's keys: %w", ctx.Err())
	}
	now := v.renewInTurn(ctx, seen)
	return now, now.err
}

func (v *Verifier) renewInTurn(ctx context.Context, seen *fetched) *fetched {
	s, now := v.keys.state.Load(), time.Now()
	if s != seen || !s.tried.IsZero() && now.Sub(s.tried) < v.c.Pause {
		return s
	}
	next := &fetched{tried: now, good: s.good}
	if next.err = v.fetch(ctx); next.err == nil {
		next.good = now
	} else {
		v.c.Log.WarnContext(ctx, "remote: the keys of the service cannot be fetched", "err", next.err)
	}
	v.keys.state.Store(next)
	return next
}

// fetch continues if the request that began it is canceled: others wait for it.
func (v *Verifier) fetch(ctx context.Context) error {
	resp, end, err := v.get(context.WithoutCancel(ctx), pathKeys, "")
	if err != nil {
		return err
	}
	defer end()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("GET %s%s is answered with %d", v.c.BaseURL, pathKeys, resp.StatusCode)
	}
	document, err := io.ReadAll(io.LimitReader(resp.Body, maxKeys+1))
	switch {
	case err != nil:
		return fmt.Errorf("GET %s%s: %w", v.c.BaseURL, pathKeys, err)
	case len(document) > maxKeys:
		return fmt.Errorf("GET %s%s: the key set has more than 256 KiB", v.c.BaseURL, pathKeys)
	}
	return v.tokens.SetKeys(document)
}

// get sends a request to the service. Call end once the answer is read.
func (v *Verifier) get(ctx context.Context, path, bearer string) (resp *http.Response, end func(), err error) {
	ctx, cancel := context.WithTimeout(ctx, v.c.Timeout)
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, v.c.BaseURL+path, nil)
	if err == nil {
		r.Header.Set("Accept", "application/json")
		if bearer != "" {
			r.Header.Set("Authorization", "Bearer "+bearer)
		}
		resp, err = v.client.Do(r)
	}
	if err != nil {
		cancel()
		return nil, nil, err
	}
	return resp, func() {
		io.CopyN(io.Discard, resp.Body, 4<<10) // so that the connection can be used again
		resp.Body.Close()
		cancel()
	}, nil
}
