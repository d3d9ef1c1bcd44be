package limits

import (
	"hash/maphash"
	"net/netip"
	"time"

	"github.com/keystile/keystile/internal/network"
)

const (
	historyCapacity = 1 << 16 // networks of one size, twice: 20 MB in all
	historySteps    = 4       // an address and at most three networks around it
)

// History counts what strangers have tried lately, by their address and by the networks around
// it, so that of two the one goes first whose neighbours have asked for least. A flood from
// however many addresses of some networks so stands behind whoever comes from another one, also
// at the first attempt of each address.
//
// What turned out to be right is taken back: a network of many honest people is not held
// against them. The counts are exact: of more networks than there is room for, those are
// forgotten that were counted longest ago, so nobody is counted together with a stranger.
type History struct {
	Half   time.Duration // something counts for one half, and at most for two
	seed   maphash.Seed
	levels [historySteps]halves
}

// halves are the counts of one size of networks, in two halves of which the elder is dropped.
type halves struct {
	now, before map[uint64]int
	began       time.Time
}

// Networks stand for an address and the networks around it, the narrowest first.
type Networks []uint64

// Around returns an address and the networks around it.
func (c *History) Around(client netip.Prefix) (t Networks) {
	if c.seed == (maphash.Seed{}) {
		c.seed = maphash.MakeSeed()
	}
	for more := true; more && len(t) < historySteps; client, _, more = network.Widen(client) {
		t = append(t, maphash.Comparable(c.seed, client))
	}
	return t
}

// Count notes an attempt.
func (c *History) Count(t Networks, now time.Time) {
	for i, id := range t {
		g := &c.levels[i]
		g.turn(now, c.Half)
		g.now[id]++
	}
}

// Forgive takes an attempt back.
func (c *History) Forgive(t Networks) {
	for i, id := range t {
		g := &c.levels[i]
		if !decrement(g.now, id) {
			decrement(g.before, id)
		}
	}
}

// decrement takes one from a count, if there is any.
func decrement(counts map[uint64]int, id uint64) bool {
	switch counts[id] {
	case 0:
		return false
	case 1:
		delete(counts, id)
	default:
		counts[id]--
	}
	return true
}

// Weight returns how often others have tried around an address that has counted an attempt itself.
func (c *History) Weight(t Networks) (sum int) {
	for i, id := range t {
		g := &c.levels[i]
		sum += max(0, g.now[id]+g.before[id]-1)
	}
	return sum
}

// turn begins a new half when the time or the room of the present one is over.
func (g *halves) turn(now time.Time, half time.Duration) {
	age := now.Sub(g.began)
	switch {
	case g.now == nil || age >= 2*half:
		g.before, g.began = nil, now
	case age >= half: // whenever that is noticed: what is in it has the same time left
		g.before, g.began = g.now, g.began.Add(half)
	case len(g.now) >= historyCapacity:
		g.before, g.began = g.now, now
	default:
		return
	}
	g.now = map[uint64]int{}
}
