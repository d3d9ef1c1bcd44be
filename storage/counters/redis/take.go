package redis

import (
	"net/netip"
	"slices"
	"strconv"
	"time"

	"github.com/keystile/keystile/internal/network"
	"github.com/keystile/keystile/storage/counters/redis/internal/link"
	"github.com/keystile/keystile/storage/counters/redis/internal/script"
)

// event is something that a client did.
//
// An application has a LIST of stamps: 10 bytes a request, and the limit-th newest says at once whether another
// is admitted. Strangers cannot make up applications, so none is displaced. A key for each address would take
// 120 bytes before it holds anything, so addresses are fields of HASHes that stay listpacks: 24 bytes each with
// one request, the name being 8 bytes of a hash with a seed that nodes share and strangers do not know. From
// the seventh stamp on an address has a LIST. There are 16,384 such buckets of up to 120; if one is full of
// live fields, an address that it does not hold is counted by the networks around it (decision 56), which
// refuse and never lock. So memory is bounded.
//
// Addresses of one IPv6 /48 have their buckets in one slot, with the counts of the /56 and the /48, so these
// are counted in the same round trip. A crowded /48 fills its own eight buckets first; its addresses are then
// counted by the /56. Networks are counted by eighths of the window, as package network does.
type event struct {
	kind, name string
	client     netip.Prefix
	window     time.Duration
	around     bool // count it for the networks of IPv6 around the client too
}

// mostEvents bounds what the count of a network can hold.
const mostEvents = 1<<24 - 1

// Positions in an answer.
const (
	ofClient = 1
	ofSite   = 4
)

// take counts an event, or says how long it is refused. A client for whom there is no place is counted by
// the networks around it.
//
// It is one script and one round trip, over IPv6 too; two where the buckets are full, because the widest
// networks are in slots of their own. On loopback, where a PING takes 10 us, a request of an application takes
// 5 us more, an address's first one 8, one over IPv6 14; beside a hop of 50 us that makes 1.1 to 1.3 of a PING.
func (c *Counters) take(e event, limit int) (held, error) {
	keys, ok := c.keys()
	if !ok {
		return held{}, link.ErrDown
	}
	p := keys.Client(e.kind, e.name, e.client)
	args := []string{"", micros(e.window), strconv.Itoa(limit), p.Field}
	var fields []string
	around := e.around && e.client.Addr().Is6()
	if around {
		for _, n := range surroundings(e.client)[:2] {
			f := keys.Field(e.kind, "", n.prefix)
			fields = append(fields, f)
			args = append(args, f, n.limit(limit))
		}
	}
	r, err := c.do(takeScript, 1, []string{p.Bucket, p.List, p.Nets}, args...)
	if err != nil {
		return held{}, err
	}
	switch {
	case len(r) == 1:
		r = firstOf(r[0], e.window, limit, around)
	case len(r) < 6:
		return held{}, errShort
	}
	h := held{verdict(limit, r), func() {}}
	if !h.v.OK {
		return h, nil
	}
	counted, bit := r[3], int64(ofClient)
	if counted&ofClient == 0 {
		p.Field = ""
	}
	if counted != 0 {
		fields = slices.DeleteFunc(fields, func(string) bool { bit *= 2; return counted&bit == 0 })
		h.undo = func() { c.undo(p, e.window, r[4], r[5], fields...) }
	}
	if counted&ofClient != 0 && !around || counted&ofSite != 0 {
		return h, nil
	}
	return c.takeWider(keys, e, limit, h, around)
}

// firstOf is the whole answer for a client of which nothing was counted before, nor of the networks around it: the
// server says the stamp alone.
func firstOf(stamp int64, window time.Duration, limit int, around bool) []int64 {
	r := []int64{1, int64(limit) - 1, window.Microseconds(), ofClient, stamp, 0}
	if around {
		r[3], r[5] = ofClient|2|ofSite, stamp/((window.Microseconds()+7)/8)
	}
	return r
}

// takeWider counts an event by a network that has a place elsewhere, beside what is counted already.
func (c *Counters) takeWider(keys script.Keys, e event, limit int, first held, around bool) (held, error) {
	networks := surroundings(e.client)
	if around {
		networks = networks[2:]
	}
	w, err := c.wider(keys, e, limit, networks, true)
	if err != nil {
		first.undo()
		return held{}, err
	}
	if !w.v.OK {
		first.undo()
		return w, nil
	}
	w.v.Remaining = min(w.v.Remaining, first.v.Remaining)
	return held{w.v, func() { first.undo(); w.undo() }}, nil
}

// wider asks for the first of some networks that has a place.
func (c *Counters) wider(keys script.Keys, e event, limit int, networks []surrounding, counting bool) (held, error) {
	bucket, args := keys.Wider(e.kind, e.name, e.client), []string{"", micros(e.window), "0"}
	if counting {
		args[2] = "1"
	}
	for _, n := range networks {
		args = append(args, keys.Field(e.kind, e.name, n.prefix), n.limit(limit))
	}
	r, err := c.do(widerScript, 5, []string{bucket}, args...)
	if err != nil {
		return held{}, err
	}
	return held{verdict(limit, r), func() {
		c.undo(script.Place{Bucket: bucket, List: bucket, Nets: bucket}, e.window, 0, r[4], args[3+2*r[3]])
	}}, nil
}

// undo takes an event back. If that fails it stays counted: whoever tried again could take back another.
func (c *Counters) undo(p script.Place, window time.Duration, stamp, eighth int64, fields ...string) {
	args := append([]string{"", micros(window), p.Field, strconv.FormatInt(stamp, 10), strconv.FormatInt(eighth, 10)},
		fields...)
	if _, err := c.do(undoScript, 1, []string{p.Bucket, p.List, p.Nets}, args...); err != nil {
		c.notTaken.Add(1)
	}
}

// surrounding is a network around a client, and how many times as much as the client it may do.
type surrounding struct {
	prefix netip.Prefix
	factor int
}

func (r surrounding) limit(of int) string {
	return strconv.Itoa(min(min(of, mostEvents)*r.factor, mostEvents))
}

// surroundings returns the networks around a client or a network, the narrowest first. A client in none is a network
// by itself.
func surroundings(client netip.Prefix) (around []surrounding) {
	own := 1
	for p, factor, more := network.Widen(network.Of(client.Addr())); more; p, factor, more = network.Widen(p) {
		if p.Bits() >= client.Bits() {
			own = factor
			continue
		}
		around = append(around, surrounding{p, factor / own})
	}
	if len(around) == 0 {
		return []surrounding{{client, 1}}
	}
	return around
}
