package repeat

import (
	"crypto/sha256"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// differing holds the headers that differ from attempt to attempt at one call, as net/http writes their names: those of
// a connection (RFC 9110 7.6.1), the token, which may have been renewed, and its proof, when it was sent, and traces.
// The key itself is compared as ParseKey reads it.
var differing = map[string]bool{
	"Connection": true, "Keep-Alive": true, "Proxy-Connection": true, "Te": true, "Trailer": true,
	"Transfer-Encoding": true, "Upgrade": true,
	"Authorization": true, "Dpop": true, "Date": true, Header: true,
	"Traceparent": true, "Tracestate": true, "Baggage": true, "B3": true, "Sentry-Trace": true, "Uber-Trace-Id": true,
	"X-Amzn-Trace-Id": true, "X-Cloud-Trace-Context": true,
}

// HashHeaders returns the hash of the headers that are a part of a call, and of what else the service is told beside
// them, such as the host that was called. But is one more header that is no part of it; "": there is none.
func HashHeaders(h http.Header, but string, beside ...string) (sum [sha256.Size]byte) {
	hash := sha256.New()
	for _, text := range beside {
		add(hash, text)
	}
	for _, name := range slices.Sorted(maps.Keys(h)) {
		if name == but || differing[name] || strings.HasPrefix(name, "X-B3-") {
			continue
		}
		add(hash, name)
		add(hash, strconv.Itoa(len(h[name])))
		for _, value := range h[name] {
			add(hash, value)
		}
	}
	hash.Sum(sum[:0])
	return sum
}
