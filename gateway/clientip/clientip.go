package clientip

import (
	"net/http"
	"net/netip"

	"github.com/keystile/keystile/internal/clientip"
	"github.com/keystile/keystile/internal/reqctx"
)

// Behind returns a function that returns the address of the client: the peer, or, if that is one
// of the proxies, the last address in X-Forwarded-For that is none of them. The header counts from
// the right, because clients can write what they like at its left. An address that is not known,
// such as the peer of a unix socket, is the zero Addr.
func Behind(proxies ...netip.Prefix) func(*http.Request) netip.Addr {
	return reqctx.Address(clientip.New(proxies).Of)
}
