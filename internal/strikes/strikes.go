package strikes

import (
	"net/netip"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/keystile/keystile/internal/clientip"
)

const (
	strikeLimit  = 30
	strikeWindow = time.Minute
	strikeRoom   = 100_000 // pairs of address and client_id; beyond it, unknown ones share one count
)

// Strikes counts the wrong proofs of the last minute. The zero value is ready.
type Strikes struct {
	mu    sync.Mutex
	known map[Guesser][]time.Time
	rest  []time.Time
	swept time.Time
}

// Guesser is who guesses, and at what.
type Guesser struct {
	address  netip.Addr
	clientID string
}

// By names a guesser. The client_id is cut: it is the guesser's own text.
func By(address netip.Addr, clientID string) Guesser {
	return Guesser{clientip.Bucket(address), clientID[:min(len(clientID), 64)]}
}

// RetryAfter is what to tell who has guessed wrong too often, before anything is looked up:
// seconds, for the header of that name. It is "" for who may try.
func (s *Strikes) RetryAfter(who Guesser, now time.Time) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	times, known := s.known[who]
	if !known && len(s.known) >= strikeRoom {
		times = s.rest
	}
	times = recent(times, now)
	if len(times) < strikeLimit {
		return ""
	}
	wait := strikeWindow - now.Sub(times[len(times)-strikeLimit])
	return strconv.Itoa(int((wait + time.Second - 1) / time.Second))
}

// Count counts a wrong proof.
func (s *Strikes) Count(who Guesser, now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.known == nil {
		s.known = map[Guesser][]time.Time{}
	}
	if now.Sub(s.swept) >= strikeWindow {
		s.swept = now
		for who, times := range s.known {
			if len(recent(times, now)) == 0 {
				delete(s.known, who)
			}
		}
	}
	times, known := s.known[who]
	if !known && len(s.known) >= strikeRoom {
		s.rest = append(recent(s.rest, now), now)
		return
	}
	s.known[who] = append(recent(times, now), now)
}

// recent drops the strikes that no longer count.
func recent(times []time.Time, now time.Time) []time.Time {
	first, _ := slices.BinarySearchFunc(times, now.Add(-strikeWindow), func(t, limit time.Time) int {
		if t.After(limit) {
			return 1
		}
		return -1
	})
	return times[first:]
}
