package limits

import (
	"net/netip"
	"sync"
	"time"

	"github.com/keystile/keystile/internal/network"
	"github.com/keystile/keystile/storage"
)

// openAround says how many more may be open around a client once there are as many as are free;
// fewer as they become more.
const openAround = 8

// OpenTickets counts the unfinished tickets of one kind that unknown clients have begun. They are stored, those of
// an email even if no user has the address and nothing was sent, so a client with many networks could fill the
// store. Where many are open, a client may begin another only if few were begun since then in its address and the
// networks around it; the more are open in all, the fewer. A client with none around it always may: no flood keeps
// out clients from other networks. Tickets begun before that are held against no client, or one that shares a
// provider with a flood would wait for the flood's part of the common share.
//
// The counts are in memory and do not survive a restart.
type OpenTickets struct {
	free int

	mu      sync.Mutex
	history History // of those beyond the free ones
	all     halves  // of the one number everyone
}

const everyone = 0

// newOpenTickets counts tickets as open for the life they have at least, and twice that at most.
func newOpenTickets(free int, life time.Duration) *OpenTickets {
	return &OpenTickets{free: free, history: History{Half: life}}
}

// Take counts one more, or returns how long to wait until some are forgotten.
func (o *OpenTickets) Take(client netip.Prefix) (wait time.Duration) {
	o.mu.Lock()
	defer o.mu.Unlock()
	now, around := time.Now(), o.history.Around(client)
	o.all.turn(now, o.history.Half)
	if open := o.all.now[everyone] + o.all.before[everyone]; open >= o.free {
		o.history.Count(around, now)
		if o.history.Weight(around)*open >= openAround*o.free {
			o.history.Forgive(around)
			return o.untilForgotten(now)
		}
	}
	o.all.now[everyone]++
	return 0
}

func (o *OpenTickets) untilForgotten(now time.Time) time.Duration {
	wait := o.history.Half - now.Sub(o.all.began)
	if len(o.all.before) == 0 {
		wait += o.history.Half
	}
	return max(wait, time.Second)
}

// Done takes one back: it has ended, or was never stored.
func (o *OpenTickets) Done(client netip.Prefix) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.history.Forgive(o.history.Around(client))
	if !decrement(o.all.now, everyone) {
		decrement(o.all.before, everyone)
	}
}

// Ended takes back a ticket that its browser has brought to its end. Those of people who are
// signed in or known were never counted.
func (o *OpenTickets) Ended(t storage.Ticket) {
	if ip, err := netip.ParseAddr(t.IP); err == nil {
		o.Done(network.Of(ip))
	}
}
