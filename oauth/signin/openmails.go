package signin

import (
	"net/netip"
	"sync"
	"time"

	"github.com/keystile/keystile/internal/network"
	"github.com/keystile/keystile/storage"
)

const (
	openMailsFree = 2048             // open mails of strangers beneath which nobody's networks matter
	openMailsRoom = 16               // then so many more from around a client; less as they become more
	openMailsHalf = 30 * time.Minute // for which one is open at least; twice as long at most
)

// openMails are the mails with a code that strangers have asked for and not proven to have got.
// Each is two tickets in the store, also if nobody has the address and nothing was sent, so
// whoever has many networks could fill it. Where many are open, only those may ask for another
// around whom, in their address and the networks around it, few are; the more are open in all,
// the fewer. Where none is, one may always be asked for: a flood does not keep out who comes
// from elsewhere, however large it is.
//
// The counts are in memory and do not survive a restart.
type openMails struct {
	mu      sync.Mutex
	history history
	all     generations // of the one number everyone
}

const everyone = 0

func newOpenMails() *openMails { return &openMails{history: history{half: openMailsHalf}} }

// take counts one more, or says how long to wait until some are forgotten.
func (o *openMails) take(client netip.Prefix) (wait time.Duration) {
	o.mu.Lock()
	defer o.mu.Unlock()
	now, around := time.Now(), o.history.around(client)
	o.all.turn(now, openMailsHalf)
	o.history.count(around, now)
	open := o.all.now[everyone] + o.all.before[everyone]
	if open >= openMailsFree && o.history.weight(around)*open >= openMailsRoom*openMailsFree {
		o.history.forgive(around)
		return o.untilForgotten(now)
	}
	o.all.now[everyone]++
	return 0
}

func (o *openMails) untilForgotten(now time.Time) time.Duration {
	wait := openMailsHalf - now.Sub(o.all.began)
	if len(o.all.before) == 0 {
		wait += openMailsHalf
	}
	return max(wait, time.Second)
}

// done takes one back: its code was typed in, or it was never sent.
func (o *openMails) done(client netip.Prefix) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.history.forgive(o.history.around(client))
	if !less(o.all.now, everyone) {
		less(o.all.before, everyone)
	}
}

// isStrangers reports whether a mail counts among those of strangers: it was asked for by
// nobody who has signed in, in a browser that the user of its address is not known by.
func isStrangers(asker string, t storage.Ticket) bool { return asker != askerKnown && t.UserID == "" }

// typedIn says that the code of a mail has been typed in.
func (o *openMails) typedIn(t storage.Ticket) {
	if ip, err := netip.ParseAddr(t.IP); err == nil && isStrangers(t.State, t) {
		o.done(network.Of(ip))
	}
}
