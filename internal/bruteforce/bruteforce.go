package bruteforce

import (
	"cmp"
	"net/netip"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/keystile/keystile/internal/network"
)

const (
	knownLimit   = 30
	unknownLimit = 60
	window       = time.Minute
	room         = 100_000 // guessers of each kind; beyond it, unknown ones are counted by network
)

// Strikes counts the wrong proofs of the last minute. The zero value is ready.
type Strikes struct {
	room int // 0: room; for tests

	mu               sync.Mutex
	known, strangers table // apart, so that made-up clients take no place of real ones
}

// table is the guessers of one kind.
type table struct {
	times    map[Guesser][]time.Time
	swept    time.Time
	networks *network.Counts
}

// Guesser is who guesses, and at what.
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

func (g Guesser) limit() int {
	if g.clientID == "" {
		return unknownLimit
	}
	return knownLimit
}

// RetryAfter is what to tell who has guessed wrong too often, before their proof is looked at:
// seconds, for the header of that name. It is "" for who may try.
func (s *Strikes) RetryAfter(who Guesser, now time.Time) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.of(who)
	times, remembered := t.times[who]
	if !remembered && t.networks != nil && len(t.times) >= s.most() {
		return seconds(t.networks.Wait(who.client, who.clientID, who.limit(), now))
	}
	times = recent(times, now)
	if len(times) < who.limit() {
		return ""
	}
	return seconds(window - now.Sub(times[len(times)-who.limit()]))
}

func seconds(wait time.Duration) string {
	if wait <= 0 {
		return ""
	}
	return strconv.Itoa(int((wait + time.Second - 1) / time.Second))
}

// Count counts a wrong proof. By must name a client that there is.
func (s *Strikes) Count(who Guesser, now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.of(who)
	if t.times == nil {
		t.times = map[Guesser][]time.Time{}
		t.networks = network.NewCounts(window, s.most()/4)
	}
	t.sweep(now)
	times, remembered := t.times[who]
	if !remembered && len(t.times) >= s.most() {
		t.networks.Take(who.client, who.clientID, who.limit(), now)
		return
	}
	t.times[who] = append(recent(times, now), now)
}

func (s *Strikes) of(who Guesser) *table {
	if who.clientID == "" {
		return &s.strangers
	}
	return &s.known
}

func (s *Strikes) most() int { return cmp.Or(s.room, room) }

// sweep drops those who have no strikes that count, at most once a minute: the walk is long
// when there are many.
func (t *table) sweep(now time.Time) {
	if now.Sub(t.swept) < window {
		return
	}
	t.swept = now
	for who, times := range t.times {
		if len(recent(times, now)) == 0 {
			delete(t.times, who)
		}
	}
}

// recent drops the strikes that no longer count.
func recent(times []time.Time, now time.Time) []time.Time {
	first, _ := slices.BinarySearchFunc(times, now.Add(-window), func(t, limit time.Time) int {
		if t.After(limit) {
			return 1
		}
		return -1
	})
	return times[first:]
}
