package s3

import (
	"context"
	"net"
	"net/http"
)

// ResolveForTest has the Target find each name at an address.
func (t *Target) ResolveForTest(address string) {
	t.client.Transport = &http.Transport{DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, network, address)
	}}
}

// SendForTest has the Target send its requests by something else than the network.
func (t *Target) SendForTest(by http.RoundTripper) { t.client.Transport = by }
