package clientip_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"testing"

	"github.com/keystile/keystile/gateway/clientip"
)

// A service behind nginx on the same machine and a load balancer in 10.0.0.0/8.
func Example() {
	client := clientip.Behind(netip.MustParsePrefix("127.0.0.1/32"), netip.MustParsePrefix("10.0.0.0/8"))
	r := httptest.NewRequest("GET", "/", nil)
	r.RemoteAddr = "127.0.0.1:41234"
	r.Header.Set("X-Forwarded-For", "198.51.100.9, 203.0.113.7, 10.1.2.3") // the first was written by the client itself
	fmt.Println(client(r))
	// Output: 203.0.113.7
}

func TestAddressIsThePeersUnlessATrustedProxyReportsIt(t *testing.T) {
	for name, c := range map[string]struct{ peer, header, want string }{
		"a peer that is no proxy":    {"192.0.2.5:1", "203.0.113.7", "192.0.2.5"},
		"a proxy that says nothing":  {"10.0.0.1:1", "", "10.0.0.1"},
		"a proxy that says nonsense": {"10.0.0.1:1", "unknown", "10.0.0.1"},
		"a proxy's own client":       {"[::ffff:10.0.0.1]:1", "203.0.113.7", "203.0.113.7"},
	} {
		t.Run(name, func(t *testing.T) {
			r := &http.Request{RemoteAddr: c.peer, Header: http.Header{"X-Forwarded-For": {c.header}}}
			if got := clientip.Behind(netip.MustParsePrefix("10.0.0.0/8"))(r.WithContext(t.Context())); got.String() != c.want {
				t.Errorf("client %s, want %s", got, c.want)
			}
		})
	}
}
