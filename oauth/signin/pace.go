package signin

import (
	"net/netip"
	"sync"
	"time"

	"github.com/keystile/keystile/internal/network"
)

// paceRoom bounds what a pace remembers: some 10 MB.
const paceRoom = 100_000

// pace admits so many requests of one key in a time, counted from the first of them: what
// is no guess and costs little needs no more exact rate. It is in memory. A key that it has no
// room for is counted by the networks around it, or if it is in none by itself.
type pace[K comparable] struct {
	limit, room int
	per         time.Duration
	beyond      func(K) (client netip.Prefix, kind string) // as package network counts it

	mu       sync.Mutex
	known    map[K]*paced
	networks *network.Counts
	swept    time.Time
}

type paced struct {
	began time.Time
	n     int
}

func newPace[K comparable](limit int, per time.Duration, beyond func(K) (netip.Prefix, string)) *pace[K] {
	return &pace[K]{
		limit: limit, per: per, room: paceRoom, beyond: beyond,
		known: map[K]*paced{}, networks: network.NewCounts(per, paceRoom/4),
	}
}

func byAddress(client netip.Prefix) (netip.Prefix, string) { return client, "" }

func byCode(id string) (netip.Prefix, string) { return netip.Prefix{}, id }

// count counts a request. 0 is yes; else it is how long to wait, and nothing was counted.
func (p *pace[K]) count(key K) (wait time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	m := p.of(key, now)
	if m == nil {
		return p.countBeyond(key, now)
	}
	if now.Sub(m.began) >= p.per {
		*m = paced{began: now}
	}
	if m.n >= p.limit {
		return p.per - now.Sub(m.began)
	}
	m.n++
	return 0
}

func (p *pace[K]) countBeyond(key K, now time.Time) (wait time.Duration) {
	client, kind := p.beyond(key)
	a := p.networks.Take(client, kind, p.limit, now)
	if a.OK {
		return 0
	}
	return a.Reset
}

// of finds or makes the count of a key; nil if there is no room for one.
func (p *pace[K]) of(key K, now time.Time) *paced {
	if m, ok := p.known[key]; ok {
		return m
	}
	if now.Sub(p.swept) >= p.per {
		p.swept = now
		for key, m := range p.known {
			if now.Sub(m.began) >= p.per {
				delete(p.known, key)
			}
		}
	}
	if len(p.known) >= p.room {
		return nil
	}
	m := &paced{began: now}
	p.known[key] = m
	return m
}

// What a household and a site have at least of IPv6, and may therefore do together no more
// than package network says.
const (
	householdBits = 56
	siteBits      = 48
)

// laddered is a pace of an address and, of IPv6, of the networks around it: there are 65,536
// addresses in a network that anybody can have.
type laddered struct{ one, household, site *pace[netip.Prefix] }

func newLaddered(limit int, per time.Duration) laddered {
	l := laddered{newPace(limit, per, byAddress), nil, nil}
	for p, factor, more := network.Widen(netip.PrefixFrom(netip.IPv6Unspecified(), 64)); more; p, factor, more = network.Widen(p) {
		switch p.Bits() {
		case householdBits:
			l.household = newPace(limit*factor, per, byAddress)
		case siteBits:
			l.site = newPace(limit*factor, per, byAddress)
		}
	}
	return l
}

// count counts a request of a client. Where a network around it has had too many, it has
// counted for the client all the same.
func (l laddered) count(client netip.Prefix) (wait time.Duration) {
	wait = l.one.count(client)
	for p := client; wait == 0; {
		p, _, _ = network.Widen(p)
		switch {
		case p.Bits() == householdBits && p.Addr().Is6():
			wait = l.household.count(p)
		case p.Bits() == siteBits && p.Addr().Is6():
			return l.site.count(p)
		default:
			return 0
		}
	}
	return wait
}

// rates are those of this room beside the lock.
type rates struct {
	codes, spared laddered            // of an address: tickets begun, mails and new users
	polls         *pace[netip.Prefix] // of an address
	ofCode        *pace[string]       // of one code

	mails, scans, visits *openTickets // of strangers: mails with a code, codes to scan, ways to a provider
}

func newRates() rates {
	return rates{
		codes:  newLaddered(codesOfAddress, time.Minute),
		polls:  newPace(pollsOfAddress, time.Minute, byAddress),
		spared: newLaddered(spareOfAddress, spareTime),
		ofCode: newPace(pollsOfCode, time.Minute, byCode),
		mails:  newOpenTickets(openMailsFree, codeLife),
		scans:  newOpenTickets(openScansFree, qrLife),
		visits: newOpenTickets(openVisitsFree, upstreamLife),
	}
}
