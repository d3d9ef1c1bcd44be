package connector

import (
	"context"
	"errors"
	"sync"
	"time"
)

const (
	tokenSlack = 5 * time.Minute // a token is renewed so long before it ends
	tokenLife  = 2 * time.Hour   // and lives no longer than this, whatever the provider says
)

// sharedToken keeps an access token of an application, which all its users share. The zero value with
// a fetch is ready.
//
// It is kept in memory until five minutes before its end, requested once for all requests that wait for it, and
// renewed once if it was withdrawn.
type sharedToken struct {
	fetch func(context.Context) (token string, seconds int, err error)

	mu      sync.Mutex
	token   string
	until   time.Time
	request *tokenRequest // nil: none is under way
}

// tokenRequest is a request that several wait for; done is closed when the others are set.
type tokenRequest struct {
	done  chan struct{}
	token string
	err   error
}

// get returns the token, and requests one if there is none, or only the stale one. All who need one
// at the same time wait for one request, which goes on when one of them leaves.
func (s *sharedToken) get(ctx context.Context, stale string) (string, error) {
	s.mu.Lock()
	if s.token != "" && s.token != stale && time.Now().Before(s.until) {
		defer s.mu.Unlock()
		return s.token, nil
	}
	r := s.request
	if r == nil {
		r = &tokenRequest{done: make(chan struct{})}
		s.request = r
		go s.renew(context.WithoutCancel(ctx), r)
	}
	s.mu.Unlock()
	select {
	case <-r.done:
		return r.token, r.err
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

func (s *sharedToken) renew(ctx context.Context, r *tokenRequest) {
	ctx, cancel := context.WithTimeout(ctx, finishTimeout)
	defer cancel()
	token, seconds, err := s.fetch(ctx)
	s.mu.Lock()
	defer s.mu.Unlock()
	if err == nil {
		life := min(time.Duration(seconds)*time.Second, tokenLife) - tokenSlack
		s.token, s.until = token, time.Now().Add(life)
	}
	r.token, r.err, s.request = token, err, nil
	close(r.done)
}

// ended returns the error of a person who has not got a shared token: the Trouble of the request for
// it, or that they have waited too long.
func (t *exchange) ended(err error) error {
	if trouble := new(Trouble); errors.As(err, &trouble) || errors.Is(err, ErrCode) || errors.Is(err, ErrStranger) {
		return err
	}
	return t.unreachable(err)
}
