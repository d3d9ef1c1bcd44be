package bruteforce

import (
	"context"
	"net/netip"
	"strconv"
	"time"

	"github.com/keystile/keystile/internal/network"
	"github.com/keystile/keystile/storage/counters"
)

const (
	knownLimit   = 30
	unknownLimit = 60
	window       = time.Minute
)

// Failures counts the wrong proofs of the last minute. Make it with New.
type Failures struct {
	known, unknown counters.Counter // in one process apart, so that made-up clients take no place of real ones
	name           string           // begins the names of what they count
}

// New returns Failures without any. They are counted in this process, or by a shared Counter under
// names that begin with this one.
func New(shared counters.Counter, name string) *Failures {
	if shared != nil {
		return &Failures{known: shared, unknown: shared, name: name + " "}
	}
	return &Failures{known: counters.NewCounter(), unknown: counters.NewCounter()}
}

// Guesser identifies a source of failed attempts and their target.
type Guesser struct {
	client   netip.Prefix
	clientID string // empty: at clients that there are not
}

// By names who guesses at a client, as long as nothing else is known. The client_id is cut: it
// is the guesser's own text.
func By(address netip.Addr, clientID string) Guesser {
	return Guesser{network.Of(address), clientID[:min(len(clientID), 64)]}
}

// Unknown names who guesses at a client that is found not to exist: whichever it is, because
// names that somebody makes up must not take place.
func Unknown(address netip.Addr) Guesser { return By(address, "") }

// limit returns how many wrong proofs are too many.
func (g Guesser) limit() int {
	if g.clientID == "" {
		return unknownLimit
	}
	return knownLimit
}

// RetryAfter returns the value of the Retry-After header, in seconds, for a guesser with too many
// failures; "" if they may try. Call it before their proof is checked.
func (f *Failures) RetryAfter(ctx context.Context, who Guesser) string {
	wait := f.of(who).Wait(ctx, f.name+who.clientID, who.client, who.limit(), window)
	if wait <= 0 {
		return ""
	}
	return strconv.Itoa(int((wait + time.Second - 1) / time.Second))
}

// overrun bounds what is counted beyond the limit, as a factor of it: what was in flight when the limit was reached
// puts the next guess off too.
const overrun = 4

// Count counts a wrong proof. By must name a client that there is.
func (f *Failures) Count(ctx context.Context, who Guesser) {
	f.of(who).Add(ctx, f.name+who.clientID, who.client, overrun*who.limit(), window)
}

func (f *Failures) of(who Guesser) counters.Counter {
	if who.clientID == "" {
		return f.unknown
	}
	return f.known
}
