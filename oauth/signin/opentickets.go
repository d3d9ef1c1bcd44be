package signin

import (
	"net/netip"
	"sync"
	"time"

	"github.com/keystile/keystile/internal/network"
	"github.com/keystile/keystile/storage"
)

// How many tickets that strangers have begun and not ended may be open before it matters where
// somebody comes from. A mail is two tickets.
const (
	openMailsFree  = 1024
	openScansFree  = 2048
	openVisitsFree = 2048

	openRoom = 8 // then so many more from around a client; less as they become more
)

// openTickets are the tickets of one kind that strangers have begun and not ended. They are
// stored, a mail's also if nobody has the address and nothing was sent, so whoever has many
// networks could fill the store. Where many are open, only those may begin another around whom,
// in their address and the networks around it, few are; the more are open in all, the fewer.
// Where none is, one may always be begun: a flood does not keep out who comes from elsewhere,
// however large it is.
//
// The counts are in memory and do not survive a restart.
type openTickets struct {
	free int

	mu      sync.Mutex
	history history
	all     generations // of the one number everyone
}

const everyone = 0

// newOpenTickets counts tickets as open for the life they have at least, and twice that at most.
func newOpenTickets(free int, life time.Duration) *openTickets {
	return &openTickets{free: free, history: history{half: life}}
}

// take counts one more, or says how long to wait until some are forgotten.
func (o *openTickets) take(client netip.Prefix) (wait time.Duration) {
	o.mu.Lock()
	defer o.mu.Unlock()
	now, around := time.Now(), o.history.around(client)
	o.all.turn(now, o.history.half)
	o.history.count(around, now)
	open := o.all.now[everyone] + o.all.before[everyone]
	if open >= o.free && o.history.weight(around)*open >= openRoom*o.free {
		o.history.forgive(around)
		return o.untilForgotten(now)
	}
	o.all.now[everyone]++
	return 0
}

func (o *openTickets) untilForgotten(now time.Time) time.Duration {
	wait := o.history.half - now.Sub(o.all.began)
	if len(o.all.before) == 0 {
		wait += o.history.half
	}
	return max(wait, time.Second)
}

// done takes one back: it has ended, or was never stored.
func (o *openTickets) done(client netip.Prefix) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.history.forgive(o.history.around(client))
	if !less(o.all.now, everyone) {
		less(o.all.before, everyone)
	}
}

// ended takes back a ticket that its browser has brought to its end. Those of people who are
// signed in or known were never counted.
func (o *openTickets) ended(t storage.Ticket) {
	if ip, err := netip.ParseAddr(t.IP); err == nil {
		o.done(network.Of(ip))
	}
}

// isStrangers reports whether a mail counts among those of strangers: it was asked for by
// nobody who has signed in, in a browser that the user of its address is not known by.
func isStrangers(asker string, t storage.Ticket) bool { return asker != askerKnown && t.UserID == "" }
