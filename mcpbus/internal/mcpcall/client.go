package mcpcall

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// Config holds the parameters of New.
type Config struct {
	// Transport sends requests; use that of a netguard.Guard, so that none reaches a private
	// network. It must follow no redirect and keep no cookies. Required.
	Transport http.RoundTripper

	MaxAnswer int64 // bytes of the answer to a call, after decompression; 0: 1 MiB
	MaxPage   int64 // bytes of one page of a list, and a quarter of all; 0: 8 MiB
	MaxPages  int   // pages of a list; 0: 100
	MaxTools  int   // entries of a list, those left out included; 0: 2,000
	MaxPeers  int   // upstreams whose era and session are remembered; 0: 1,024

	CallTimeout     time.Duration // of a call, with the handshake it may need; 0: 30 s
	DiscoverTimeout time.Duration // of a whole list; 0: 30 s
}

// Client lists and calls tools of upstream MCP servers. It is safe for concurrent use.
type Client struct {
	config      Config
	ids         atomic.Int64 // of requests
	peers       *peers
	discoveries *discoveries
	background  *background
	close       sync.Once
}

// New returns a Client. Its error names everything that is wrong with the Config.
func New(c Config) (*Client, error) {
	var errs []error
	if c.Transport == nil {
		errs = append(errs, errors.New("mcpcall: Transport is missing: give that of a netguard.Guard"))
	}
	check(&errs, "MaxAnswer", &c.MaxAnswer, 1<<20)
	check(&errs, "MaxPage", &c.MaxPage, 8<<20)
	check(&errs, "MaxPages", &c.MaxPages, 100)
	check(&errs, "MaxTools", &c.MaxTools, 2000)
	check(&errs, "MaxPeers", &c.MaxPeers, 1024)
	check(&errs, "CallTimeout", &c.CallTimeout, 30*time.Second)
	check(&errs, "DiscoverTimeout", &c.DiscoverTimeout, 30*time.Second)
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return &Client{config: c, peers: newPeers(c.MaxPeers), discoveries: newDiscoveries(), background: newBackground()}, nil
}

func check[N int | int64 | time.Duration](errs *[]error, name string, n *N, otherwise N) {
	switch {
	case *n < 0:
		*errs = append(*errs, errors.New("mcpcall: "+name+" is negative: 0 is the default"))
	case *n == 0:
		*n = otherwise
	}
}

// Close ends the sessions at upstreams and waits for background tasks. If ctx ends first, the
// sessions are left to expire. No call may be running, and none may follow.
func (c *Client) Close(ctx context.Context) error {
	c.close.Do(func() {
		for _, p := range c.peers.all() {
			if l := p.link.Swap(nil); l != nil {
				c.background.run(ctx, func(ctx context.Context) { c.endSession(ctx, p.target, l) })
			}
		}
		c.background.close(ctx)
	})
	return ctx.Err()
}
