package bruteforce

import (
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

// Failures counts the wrong proofs of the last minute. Make it with New.
type Failures struct {
	known, unknown *limit.Limiter // apart, so that made-up clients take no place of real ones
}

// New returns Failures without any.
func New() *Failures { return newOf(capacity) }

func newOf(capacity int) *Failures {
	return &Failures{table(capacity), table(capacity)}
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
func (g Guesser) key() string { return g.client.String() + " " + g.clientID }

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

// RetryAfter returns what to tell who has guessed wrong too often, before their proof is looked
// at: seconds, for the header of that name. It is "" for who may try.
func (f *Failures) RetryAfter(who Guesser, now time.Time) string {
	wait := f.of(who).Wait(who.key(), who.limit(), now)
	if wait <= 0 {
		return ""
	}
	return strconv.Itoa(int((wait + time.Second - 1) / time.Second))
}

// overrun bounds what is counted beyond the limit, as a factor of it: what was in flight when the limit was reached
// puts the next guess off too.
const overrun = 4

// Count counts a wrong proof. By must name a client that there is.
func (f *Failures) Count(who Guesser, now time.Time) {
	f.of(who).Allow(who.key(), overrun*who.limit(), now)
}

func (f *Failures) of(who Guesser) *limit.Limiter {
	if who.clientID == "" {
		return f.unknown
	}
	return f.known
}
