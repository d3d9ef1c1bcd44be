package gateway

import (
	"net/http"
	"net/netip"

	"github.com/keystile/keystile/internal/headername"
)

// dropRefused removes the headers that no client may send to a service (package headername). The gateway writes its
// own headers about the caller afterwards.
//
// They say who calls (X-Keystile-*, Keystile-*, Remote-User, headers of sign-in proxies and client certificates), from
// where (Forwarded, X-Forwarded-*, X-Real-Ip, True-Client-Ip), which URL, host or method is meant
// (X-Original-*, X-Rewrite-Url, X-HTTP-Method-Override), or steer a mesh or a server in front (X-Envoy-*,
// X-Accel-*). There is no setting for it: a service that needs such a header from its clients can give it
// another name.
func dropRefused(h http.Header) {
	for name := range h {
		if headername.Refused(name) {
			delete(h, name)
		}
	}
}

// addressOf returns the address of a request's client, as Config.ClientIP does.
type addressOf func(*http.Request) netip.Addr

// withoutClaims returns a request as a service in this process may see it. Others may be reading the one that
// came, which is returned where nothing has to go.
func (clientIP addressOf) withoutClaims(r *http.Request) *http.Request {
	for name, values := range r.Header {
		if headername.Refused(name) && !clientIP.isTrue(r, name, values) {
			return clientIP.cleaned(r)
		}
	}
	return r
}

// cleaned returns a copy of a request. Of where it comes from it says what the gateway knows, where the client, or a
// proxy before the gateway, has said something.
func (clientIP addressOf) cleaned(r *http.Request) *http.Request {
	out := r.WithContext(r.Context())
	out.Header = r.Header.Clone()
	dropRefused(out.Header)
	for _, h := range whence(r, clientIP(r)) {
		if r.Header[h.name] != nil {
			out.Header[h.name] = []string{h.value}
		}
	}
	return out
}

// isTrue reports whether a header says of a request what the gateway itself would say: where a trusted proxy
// stands before the gateway, nearly each request has such headers.
func (clientIP addressOf) isTrue(r *http.Request, name string, values []string) bool {
	if len(values) != 1 {
		return false
	}
	switch name {
	case headerFor:
		client, err := netip.ParseAddr(values[0])
		return err == nil && client == clientIP(r)
	case headerHost:
		return values[0] == r.Host
	case headerProto:
		return values[0] == scheme(r, clientIP(r))
	}
	return false
}

// The headers by which services learn where a request comes from.
const (
	headerFor   = "X-Forwarded-For"
	headerHost  = "X-Forwarded-Host"
	headerProto = "X-Forwarded-Proto"
)

// whence returns what the gateway knows of where a request comes from.
func whence(r *http.Request, client netip.Addr) [3]struct{ name, value string } {
	return [...]struct{ name, value string }{{headerFor, client.String()}, {headerHost, r.Host},
		{headerProto, scheme(r, client)}}
}

// scheme returns the client's scheme: as this service sees it, or as a trusted proxy reports
// it.
func scheme(in *http.Request, client netip.Addr) string {
	if previous := in.Header[headerProto]; len(previous) == 1 && (previous[0] == "https" || previous[0] == "http") &&
		!isPeer(in, client) {
		return previous[0]
	}
	if in.TLS != nil {
		return "https"
	}
	return "http"
}

// isPeer reports whether an address is that of the connection: nobody stands between.
func isPeer(r *http.Request, client netip.Addr) bool {
	peer, err := netip.ParseAddrPort(r.RemoteAddr)
	return err != nil || peer.Addr().Unmap() == client.Unmap()
}
