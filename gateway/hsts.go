package gateway

import "net/http"

const headerHSTS = "Strict-Transport-Security"

// hstsValue is valid for a year. It leaves out includeSubDomains: other hosts, even below
// this one, are not ours to close, and may have no certificate. preload would need both that
// and a promise for longer than anybody here can give.
const hstsValue = "max-age=31536000"

// setHSTS sets Strict-Transport-Security. Browsers ignore it over plain http (RFC 6797 8.1), so
// it may be on every answer, also behind a proxy that ends TLS. value backs the header and
// belongs to this request: see package cors.
//
// It covers this host and not its subdomains. Browsers keep it for the whole host, so a proxied service cannot
// change it.
func (g *Gateway) setHSTS(h http.Header, value *[1]string) {
	if g.c.HSTS {
		value[0] = hstsValue
		h[headerHSTS] = value[:]
	}
}
