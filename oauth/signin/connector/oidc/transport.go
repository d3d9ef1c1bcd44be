package oidc

import (
	"cmp"
	"errors"
	"io"
	"net/http"
	"sync"
	"time"
)

const (
	maxBody  = 1 << 20          // bytes of an answer
	keysRest = 10 * time.Second // between two readings of the keys
)

var (
	errTooLarge = errors.New("answered more than 1 MiB")
	errTooSoon  = errors.New("its keys were read less than ten seconds ago")
)

// bounded returns a client that follows no redirect and reads no endless answer.
func bounded(c *http.Client) *http.Client {
	own := *c
	own.Transport = bodyLimit{cmp.Or[http.RoundTripper](c.Transport, http.DefaultTransport)}
	own.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &own
}

// bodyLimit ends an answer that is too large with an error.
type bodyLimit struct{ next http.RoundTripper }

func (b bodyLimit) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("User-Agent", "keystile")
	resp, err := b.next.RoundTrip(r)
	if err == nil {
		resp.Body = &limitedBody{resp.Body, maxBody}
	}
	return resp, err
}

type limitedBody struct {
	io.ReadCloser
	left int
}

func (b *limitedBody) Read(p []byte) (int, error) {
	if len(p) > b.left+1 {
		p = p[:b.left+1]
	}
	n, err := b.ReadCloser.Read(p)
	if b.left -= n; b.left < 0 {
		return 0, errTooLarge
	}
	return n, err
}

// keyFetchLimit lets a request through once in keysRest: each id_token with a kid that is not known asks for
// the keys.
type keyFetchLimit struct {
	next http.RoundTripper
	mu   sync.Mutex
	open time.Time
}

func (g *keyFetchLimit) RoundTrip(r *http.Request) (*http.Response, error) {
	g.mu.Lock()
	now := time.Now()
	soon := now.Before(g.open)
	if !soon {
		g.open = now.Add(keysRest)
	}
	g.mu.Unlock()
	if soon {
		return nil, errTooSoon
	}
	return g.next.RoundTrip(r)
}
