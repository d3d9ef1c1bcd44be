package signin

import (
	"hash/maphash"
	"net/netip"
	"time"

	"github.com/keystile/keystile/internal/network"
)

const (
	historyRoom  = 1 << 16 // networks of one size, twice: 20 MB in all
	historySteps = 4       // an address and at most three networks around it
)

// history counts what strangers have tried lately, by their address and by the networks around
// it, so that of two the one goes first whose neighbours have asked for least. A flood from
// however many addresses of some networks so stands behind whoever comes from another one, also
// at the first attempt of each address.
//
// What turned out to be right is taken back: a network of many honest people is not held
// against them. The counts are exact: of more networks than there is room for, those are
// forgotten that were counted longest ago, so nobody is counted together with a stranger.
type history struct {
	half   time.Duration // something counts for one half, and at most for two
	seed   maphash.Seed
	levels [historySteps]generations
}

// generations are the counts of one size of networks, in two halves of which the elder is dropped.
type generations struct {
	now, before map[uint64]int
	began       time.Time
}

// networkIDs stand for an address and the networks around it, the narrowest first.
type networkIDs []uint64

func (c *history) around(client netip.Prefix) (t networkIDs) {
	if c.seed == (maphash.Seed{}) {
		c.seed = maphash.MakeSeed()
	}
	for more := true; more && len(t) < historySteps; client, _, more = network.Widen(client) {
		t = append(t, maphash.Comparable(c.seed, client))
	}
	return t
}

// count notes an attempt.
func (c *history) count(t networkIDs, now time.Time) {
	for i, id := range t {
		g := &c.levels[i]
		g.turn(now, c.half)
		g.now[id]++
	}
}

// forgive takes an attempt back.
func (c *history) forgive(t networkIDs) {
	for i, id := range t {
		g := &c.levels[i]
		if !less(g.now, id) {
			less(g.before, id)
		}
	}
}

// less takes one from a count, if there is any.
func less(counts map[uint64]int, id uint64) bool {
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

// weight is how often others have tried around an address that has counted an attempt itself.
func (c *history) weight(t networkIDs) (sum int) {
	for i, id := range t {
		g := &c.levels[i]
		sum += max(0, g.now[id]+g.before[id]-1)
	}
	return sum
}

// turn begins a new half when the time or the room of the present one is over.
func (g *generations) turn(now time.Time, half time.Duration) {
	age := now.Sub(g.began)
	switch {
	case g.now == nil || age >= 2*half:
		g.before, g.began = nil, now
	case age >= half: // whenever that is noticed: what is in it has the same time left
		g.before, g.began = g.now, g.began.Add(half)
	case len(g.now) >= historyRoom:
		g.before, g.began = g.now, now
	default:
		return
	}
	g.now = map[uint64]int{}
}
