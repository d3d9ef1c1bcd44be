package limit

import (
	"hash/maphash"
	"net/netip"
	"time"
)

// AllowClient is Allow of a client itself, such as network.Of returns: its key is made without a text, and
// while the table is full it is counted by the networks around it. It goes to the same window as the
// key that holds the 16 bytes of its address.
func (l *Limiter) AllowClient(client netip.Prefix, limit int, at time.Time) Verdict {
	b := client.Addr().As16()
	v, full := l.allow(id{maphash.Bytes(l.seeds[0], b[:]), maphash.Bytes(l.seeds[1], b[:]) | 1}, limit, at)
	if full {
		return l.allowByNetwork(client, "", limit, at)
	}
	return v
}
