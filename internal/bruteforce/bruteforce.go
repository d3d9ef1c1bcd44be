package bruteforce

import (
	"context"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"github.com/keystile/keystile/internal/limit"
	"github.com/keystile/keystile/internal/network"
)

const (
	knownLimit   = 30
	unknownLimit = 60
	window       = time.Minute
	capacity     = 100_000 // guessers of each kind; beyond it, unknown ones are counted by network
)

// Counter counts events by client for several processes together.
type Counter interface {
	// Add counts an event of a client, or of a network, under a name, unless limit of them
	// are in the window that ends now: then it returns how long to wait.
	Add(ctx context.Context, name string, client netip.Prefix, limit int, window time.Duration) (wait time.Duration)
	// Wait returns what Add would, and counts nothing.
	Wait(ctx context.Context, name string, client netip.Prefix, limit int, window time.Duration) (wait time.Duration)
}

// Failures counts the wrong proofs of the last minute. Make it with New.
type Failures struct {
	known, unknown *limit.Limiter // apart, so that made-up clients take no place of real ones
	shared         Counter        // in their place; nil: this process counts alone
	name           string         // begins the names of what shared counts
}

// New returns Failures without any. They are counted in this process, or by a shared Counter under
// names that begin with this one.
func New(shared Counter, name string) *Failures {
	f := newOf(capacity)
	f.shared, f.name = shared, name+" "
	return f
}

func newOf(capacity int) *Failures {
	return &Failures{known: table(capacity), unknown: table(capacity)}
}

func table(capacity int) *limit.Limiter {
	l, err := limit.New(limit.Config{Window: window, MaxKeys: capacity, Client: networkKey})
	if err != nil {
		panic(err) // of a Config that is written above
	}
	return l
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

// key is a text that whose reads.
func (g Guesser) key() string {
	var room [128]byte
	return string(append(append(g.client.AppendTo(room[:0]), ' '), g.clientID...))
}

func networkKey(key string) (client netip.Prefix, clientID string) {
	text, clientID, _ := strings.Cut(key, " ")
	client, _ = netip.ParsePrefix(text) // the zero Prefix has none
	return client, clientID
}

// limit returns how many wrong proofs are too many.
func (g Guesser) limit() int {
	if g.clientID == "" {
		return unknownLimit
	}
	return knownLimit
}

// RetryAfter returns the value of the Retry-After header, in seconds, for a guesser with too many
// failures; "" if they may try. Call it before their proof is checked.
func (f *Failures) RetryAfter(ctx context.Context, who Guesser, now time.Time) string {
	var wait time.Duration
	if f.shared != nil {
		wait = f.shared.Wait(ctx, f.name+who.clientID, who.client, who.limit(), window)
	} else {
		wait = f.of(who).Wait(who.key(), who.limit(), now)
	}
	if wait <= 0 {
		return ""
	}
	return strconv.Itoa(int((wait + time.Second - 1) / time.Second))
}

// overrun bounds what is counted beyond the limit, as a factor of it: what was in flight when the limit was reached
// puts the next guess off too.
const overrun = 4

// Count counts a wrong proof. By must name a client that there is.
func (f *Failures) Count(ctx context.Context, who Guesser, now time.Time) {
	if f.shared != nil {
		f.shared.Add(ctx, f.name+who.clientID, who.client, overrun*who.limit(), window)
		return
	}
	f.of(who).Allow(who.key(), overrun*who.limit(), now)
}

func (f *Failures) of(who Guesser) *limit.Limiter {
	if who.clientID == "" {
		return f.unknown
	}
	return f.known
}
