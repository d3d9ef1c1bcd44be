package clientip

import (
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"testing"
)

func TestClientIsThePeerUnlessAProxyIsTrusted(t *testing.T) {
	check(t, []walk{
		{"no proxy", "203.0.113.7:4711", nil, "203.0.113.7"},
		{"no proxy, and a header that lies", "203.0.113.7:4711", []string{"198.51.100.1"}, "203.0.113.7"},
		{"no proxy, and a header that names a proxy", "203.0.113.7:4711", []string{"198.51.100.1, 10.0.0.1"}, "203.0.113.7"},
		{"one proxy", "10.0.0.1:80", []string{"203.0.113.7"}, "203.0.113.7"},
		{"one proxy, and a client that lies", "10.0.0.1:80", []string{"198.51.100.1, 203.0.113.7"}, "203.0.113.7"},
		{"one proxy, and a client that names a proxy", "10.0.0.1:80", []string{"10.9.9.9, 203.0.113.7"}, "203.0.113.7"},
		{"two proxies", "10.0.0.1:80", []string{"198.51.100.1, 203.0.113.7, 10.0.0.2"}, "203.0.113.7"},
		{"two proxies, each with a line", "10.0.0.1:80", []string{"198.51.100.1", "203.0.113.7", "10.0.0.2"}, "203.0.113.7"},
		{"two proxies, lines and commas", "10.0.0.1:80", []string{"198.51.100.1, 203.0.113.7", "10.0.0.2"}, "203.0.113.7"},
		{"proxies only", "10.0.0.1:80", []string{"10.0.0.3, 10.0.0.2"}, "10.0.0.3"},
		{"a proxy asks for itself", "10.0.0.1:80", nil, "10.0.0.1"},
		{"a proxy sends an empty header", "10.0.0.1:80", []string{""}, "10.0.0.1"},
		{"malformed at the end", "10.0.0.1:80", []string{"203.0.113.7, unknown"}, "10.0.0.1"},
		{"malformed behind a proxy", "10.0.0.1:80", []string{"198.51.100.1, _hidden, 10.0.0.2"}, "10.0.0.2"},
		{"malformed where nobody looks", "10.0.0.1:80", []string{"<script>, 203.0.113.7"}, "203.0.113.7"},
		{"an empty entry", "10.0.0.1:80", []string{"203.0.113.7,, 10.0.0.2"}, "10.0.0.2"},
		{"an empty line", "10.0.0.1:80", []string{"203.0.113.7", ""}, "10.0.0.1"},
		{"32 proxies", "10.0.0.1:80", []string{"203.0.113.7" + strings.Repeat(", 10.0.0.2", 31)}, "203.0.113.7"},
		{"33 proxies", "10.0.0.1:80", []string{"203.0.113.7" + strings.Repeat(", 10.0.0.2", 32)}, "10.0.0.2"},
		{"100,000 commas", "10.0.0.1:80", []string{strings.Repeat(",", 100_000)}, "10.0.0.1"},
		{"a peer without a port", "203.0.113.7", nil, "203.0.113.7"},
		{"a unix socket", "@", []string{"203.0.113.7"}, ""},
		{"no peer", "", []string{"203.0.113.7"}, ""},
		{"a peer by name", "localhost:80", nil, ""},
	})
}

func TestAddressesComeInManySpellings(t *testing.T) {
	check(t, []walk{
		{"blanks and tabs", "10.0.0.1:80", []string{" 198.51.100.1 ,\t203.0.113.7 \t"}, "203.0.113.7"},
		{"ports", "10.0.0.1:80", []string{"203.0.113.7:4711, 10.0.0.2:80"}, "203.0.113.7"},
		{"IPv6", "[fd00::1]:80", []string{"2001:db8::7"}, "2001:db8::7"},
		{"IPv6 in brackets", "[fd00::1]:80", []string{"[2001:db8::7]"}, "2001:db8::7"},
		{"IPv6 in brackets with a port", "[fd00::1]:80", []string{"[2001:db8::7]:4711, [fd00::2]:80"}, "2001:db8::7"},
		{"a zone at the peer", "[fe80::1%eth0]:80", nil, "fe80::1"},
		{"a zone at a trusted peer", "[fd00::1%eth0]:80", []string{"203.0.113.7"}, "203.0.113.7"},
		{"a zone in the header", "10.0.0.1:80", []string{"fe80::7%x"}, "fe80::7"},
		{"IPv4 in IPv6 at the peer", "[::ffff:10.0.0.1]:80", []string{"203.0.113.7"}, "203.0.113.7"},
		{"IPv4 in IPv6 in the header", "10.0.0.1:80", []string{"203.0.113.7, ::ffff:10.0.0.2"}, "203.0.113.7"},
		{"IPv4 in IPv6 as the client", "10.0.0.1:80", []string{"::ffff:203.0.113.7"}, "203.0.113.7"},
		{"a trusted prefix in IPv6 form", "192.0.2.9:80", []string{"203.0.113.7"}, "203.0.113.7"},
		{"an address beside that prefix", "192.0.3.9:80", []string{"203.0.113.7"}, "192.0.3.9"},
		{"an IPv4 address in brackets", "10.0.0.1:80", []string{"[203.0.113.7]"}, "10.0.0.1"},
		{"a port out of range", "10.0.0.1:80", []string{"203.0.113.7:99999"}, "10.0.0.1"},
		{"octal", "10.0.0.1:80", []string{"0203.0.113.7"}, "10.0.0.1"},
		{"a number", "10.0.0.1:80", []string{"3405803783"}, "10.0.0.1"},
		{"a very long zone", "10.0.0.1:80", []string{"fe80::7%" + strings.Repeat("x", 1000)}, "10.0.0.1"},
		{"a very long entry", "10.0.0.1:80", []string{strings.Repeat("1", 1<<20)}, "10.0.0.1"},
	})
}

type walk struct {
	name, peer string
	forwarded  []string
	want       string // "": no address
}

func check(t *testing.T, walks []walk) {
	t.Helper()
	r := New(prefixes("10.0.0.0/8", "fd00::/8", "::ffff:192.0.2.0/120"))
	for _, w := range walks {
		want, _ := netip.ParseAddr(w.want)
		if got := r.Of(request(w.peer, w.forwarded...)); got != want {
			t.Errorf("%s: Of(%s, %.60q) = %v, want %v", w.name, w.peer, w.forwarded, got, want)
		}
	}
}

func TestProxyIsTrustedByTheAddressOfItsConnectionAlone(t *testing.T) {
	r := New(prefixes("10.0.0.0/8", "fd00::/8"))
	for peer, want := range map[string]bool{
		"10.0.0.1:80": true, "[::ffff:10.0.0.1]:80": true, "[fd00::1%eth0]:80": true, "203.0.113.7:80": false, "@": false,
		"": false, "localhost:80": false,
	} {
		if got := r.Trusts(request(peer, "10.0.0.1")); got != want {
			t.Errorf("Trusts(%s) = %t, want %t", peer, got, want)
		}
		if (Resolver{}).Trusts(request(peer)) {
			t.Errorf("without a list %s is trusted", peer)
		}
	}
}

func TestProxiesAreTrustedByNoDefault(t *testing.T) {
	for _, r := range []Resolver{{}, New(nil), New([]netip.Prefix{{}})} {
		for _, peer := range []string{"127.0.0.1:80", "10.0.0.1:80", "[::1]:80"} {
			want := netip.MustParseAddrPort(peer).Addr()
			if got := r.Of(request(peer, "203.0.113.7")); got != want {
				t.Errorf("Of(%s) = %v, want the peer", peer, got)
			}
		}
	}
}

func TestListOfProxiesIsCopied(t *testing.T) {
	list := prefixes("10.0.0.0/8")
	r := New(list)
	list[0] = netip.MustParsePrefix("0.0.0.0/0")
	if got := r.Of(request("203.0.113.7:80", "198.51.100.1")); got.String() != "203.0.113.7" {
		t.Errorf("Of() = %v after the caller changed its list, want 203.0.113.7", got)
	}
}

func FuzzOf(f *testing.F) {
	for _, seed := range [][2]string{
		{"10.0.0.1:80", "203.0.113.7, 10.0.0.2"}, {"[fd00::1%a]:80", "[::1]:9,::ffff:1.2.3.4"},
		{"10.0.0.1:80", ",,"}, {"@", "x"}, {"10.0.0.1:80", "[]"}, {"10.0.0.1:80", "fe80::1%\x00\n"},
	} {
		f.Add(seed[0], seed[1])
	}
	r := New(prefixes("10.0.0.0/8", "fd00::/8"))
	f.Fuzz(func(t *testing.T, peer, forwarded string) {
		got := r.Of(request(peer, forwarded))
		alone := r.Of(request(peer))
		switch {
		case got.Zone() != "" || got.Is4In6():
			t.Errorf("Of(%q, %q) = %v, want no zone and IPv4 as such", peer, forwarded, got)
		case got != alone && !r.trusts(alone):
			t.Errorf("Of(%q, %q) = %v, want the peer %v, which is no proxy", peer, forwarded, got, alone)
		case r.trusts(alone) && got != r.Of(request(peer, "198.51.100.1", forwarded)) && !r.trusts(got):
			t.Errorf("Of(%q, %q) = %v changes with what the client writes in front", peer, forwarded, got)
		}
	})
}

func BenchmarkOf(b *testing.B) {
	r := New(prefixes("10.0.0.0/8"))
	for name, req := range map[string]*http.Request{
		"no proxy":    request("203.0.113.7:4711"),
		"two proxies": request("10.0.0.1:80", "198.51.100.1, 203.0.113.7, 10.0.0.2"),
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				r.Of(req)
			}
		})
	}
}

func request(peer string, forwarded ...string) *http.Request {
	return &http.Request{RemoteAddr: peer, Header: http.Header{"X-Forwarded-For": slices.Clone(forwarded)}}
}

func prefixes(texts ...string) (out []netip.Prefix) {
	for _, text := range texts {
		out = append(out, netip.MustParsePrefix(text))
	}
	return out
}

func TestAddressIsTrustedInWhateverForm(t *testing.T) {
	r := New([]netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("fd00::/8")})
	for text, want := range map[string]bool{"10.1.2.3": true, "::ffff:10.1.2.3": true, "fd00::1%eth0": true,
		"192.0.2.1": false, "::ffff:192.0.2.1": false, "2001:db8::1": false} {
		if got := r.TrustsAddr(netip.MustParseAddr(text)); got != want {
			t.Errorf("TrustsAddr(%s) = %t", text, got)
		}
	}
	if r.TrustsAddr(netip.Addr{}) {
		t.Error("no address is trusted")
	}
}
