package legacy

import (
	"net/netip"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/keystile/keystile/internal/clientip"
)

// Wrong appkeys and signatures: so many in so long, by one address for one appid. Who has
// the right key may send as many requests at once as they like.
const (
	strikeLimit  = 30
	strikeWindow = time.Minute
	strikeRoom   = 100_000 // pairs of address and appid; beyond it, unknown ones share one count
)

// strikes counts the wrong proofs of the last minute.
type strikes struct {
	mu    sync.Mutex
	known map[striker][]time.Time
	rest  []time.Time
	swept time.Time
}

// striker is who guesses, and at what. The appid is cut: it is the guesser's own text.
type striker struct {
	address netip.Addr
	appID   string
}

func newStriker(address netip.Addr, appID string) striker {
	return striker{clientip.Bucket(address), appID[:min(len(appID), 64)]}
}

// check refuses who has struck too often, before anything is looked up.
func (s *strikes) check(who striker, now time.Time) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	times, known := s.known[who]
	if !known && len(s.known) >= strikeRoom {
		times = s.rest
	}
	times = recent(times, now)
	if len(times) < strikeLimit {
		return nil
	}
	wait := strikeWindow - now.Sub(times[len(times)-strikeLimit])
	return tooManyKeys.With("Retry-After", strconv.Itoa(int((wait+time.Second-1)/time.Second)))
}

// strike counts a wrong proof.
func (s *strikes) strike(who striker, now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
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
