package netguard

import (
	"context"
	"encoding/binary"
	"net"
	"net/netip"
	"strings"
	"sync"
	"testing"
)

// zone is a DNS server for tests. A name's first lookup gets the first set of addresses,
// the next one the next; the last set stays.
type zone struct {
	mu    sync.Mutex
	names map[string][][]netip.Addr
}

// is lets a name resolve to addresses, separated by blanks, one text for each lookup.
func (z *zone) is(name string, lookups ...string) {
	z.mu.Lock()
	defer z.mu.Unlock()
	z.names[name] = nil
	for _, texts := range lookups {
		var addrs []netip.Addr
		for _, text := range strings.Fields(texts) {
			addrs = append(addrs, netip.MustParseAddr(text))
		}
		z.names[name] = append(z.names[name], addrs)
	}
}

// resolver starts the server and returns a Resolver that asks it.
func resolver(t testing.TB) (*zone, *net.Resolver) {
	t.Helper()
	z := &zone{names: map[string][][]netip.Addr{}}
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for packet := make([]byte, 512); ; {
			n, from, err := conn.ReadFrom(packet)
			if err != nil {
				return
			}
			if n > 16 {
				conn.WriteTo(z.answer(packet[:n]), from)
			}
		}
	}()
	t.Cleanup(func() { conn.Close(); <-done })
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "udp", conn.LocalAddr().String())
	}
	return z, &net.Resolver{PreferGo: true, Dial: dial}
}

// answer writes a response (RFC 1035 4.1): the header, the question as it came and one
// record for each address. An A question moves on to the name's next set.
func (z *zone) answer(query []byte) []byte {
	name, end := question(query)
	kind := binary.BigEndian.Uint16(query[end:])
	out := append([]byte{}, query[:end+4]...)
	out[2], out[3] = 0x81, 0x80
	clear(out[6:12])

	z.mu.Lock()
	defer z.mu.Unlock()
	sets, known := z.names[name]
	if !known {
		out[3] |= 3 // NXDOMAIN
		return out
	}
	for _, a := range sets[0] {
		if a.Is4() != (kind == 1) || kind != 1 && kind != 28 {
			continue
		}
		out = append(out, 0xc0, 12, byte(kind>>8), byte(kind), 0, 1, 0, 0, 0, 0, 0, byte(a.BitLen()/8))
		out = append(out, a.AsSlice()...)
		out[7]++
	}
	if kind == 1 && len(sets) > 1 {
		z.names[name] = sets[1:]
	}
	return out
}

// question reads the name that is asked for and where it ends.
func question(query []byte) (name string, end int) {
	var labels []string
	for end = 12; query[end] != 0; end += 1 + int(query[end]) {
		labels = append(labels, string(query[end+1:end+1+int(query[end])]))
	}
	return strings.ToLower(strings.Join(labels, ".")), end + 1
}
