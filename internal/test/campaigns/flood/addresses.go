package main

import (
	"context"
	"encoding/binary"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
	"text/tabwriter"
	"time"

	"github.com/keystile/keystile/internal/test/serving"
)

const (
	floodIPv6   = 1_000_000
	floodIPv4   = 100_000
	honestUsers = 200

	guessShare  = 10        // of a hundred addresses
	guessers    = 1200      // connections that wait for guesses: more than the server lets wait
	requesters  = 48        // connections for everything else
	mostMemory  = 512 << 20 // 390 to 450 MB are measured; much of it is garbage of hashes, 19 MB each
	mostGrowth  = 10 << 20
	siteWide    = 1 << 16
	siteLasting = time.Minute
)

// flood6 is the i-th of the flood's IPv6 /64s: 64 /32s, each /64 in a /48 of its own.
func flood6(i int) netip.Addr {
	var a [16]byte
	binary.BigEndian.PutUint32(a[:], 0x2a10_0000+uint32(i%64))
	binary.BigEndian.PutUint32(a[4:], uint32(i/64)*2654435761)
	a[15] = 1
	return netip.AddrFrom16(a)
}

// flood4 is the i-th of the flood's IPv4 addresses: 400 /16s.
func flood4(i int) netip.Addr {
	net, host := i%400, uint16(i/400*40503)
	return netip.AddrFrom4([4]byte{byte(20 + net/256), byte(net), byte(host >> 8), byte(host)})
}

// home returns the address of the i-th honest user, in a /32 or a /16 of their own.
func home(i int) netip.Addr {
	if i%2 == 0 {
		return netip.AddrFrom4([4]byte{byte(100 + i/256), byte(i), 7, 9})
	}
	return netip.AddrFrom16([16]byte{0x26, 0x00, byte(i >> 8), byte(i), 0, 1, 0, 2, 15: 3})
}

// flood is one attack by many addresses.
type flood struct {
	server   *server
	firstRun serving.FirstRun
	seed     uint64
	total    int
	of       func(i int) netip.Addr
	length   time.Duration // after which it ends, if it has not yet; 0: it does not
	began    time.Time
	sent     atomic.Int64
	over     atomic.Bool
	tally    *tally
}

// send sends one request from each address. Guesses have connections of their own, because
// they wait in line; where all of these wait, the address asks for something else.
func (f *flood) send(ctx context.Context) {
	if f.length > 0 {
		limited, stop := context.WithTimeout(ctx, f.length)
		defer stop()
		ctx = limited
	}
	type shot struct {
		from  netip.Addr
		drawn uint64
	}
	guesses, others := make(chan shot), make(chan shot, requesters)
	var all sync.WaitGroup
	work := func(shots <-chan shot, pick func(*rand.Rand) kind) {
		all.Go(func() {
			c := &caller{address: f.server.address}
			defer c.close()
			for s := range shots {
				r := rand.New(rand.NewPCG(f.seed, s.drawn))
				k := pick(r)
				f.tally.count(k.name, c.ask(k.make(r, f.firstRun), s.from))
				f.sent.Add(1)
			}
		})
	}
	for range max(1, min(guessers, f.total/10)) {
		work(guesses, func(*rand.Rand) kind { return kind{name: "sign-in, wrong", make: guess} })
	}
	for range requesters {
		work(others, draw)
	}
	for i := 0; i < f.total && ctx.Err() == nil; i++ {
		s := shot{f.of(i), uint64(i)}
		if i*7919%100 < guessShare {
			select {
			case guesses <- s:
				continue
			default:
			}
		}
		others <- s
	}
	close(guesses)
	close(others)
	all.Wait()
}

// done returns the part of the flood that is over, from 0 to 1: of its requests, or of its time.
func (f *flood) done() float64 {
	done := float64(f.sent.Load()) / float64(f.total)
	if f.length > 0 {
		done = max(done, time.Since(f.began).Seconds()/f.length.Seconds())
	}
	return done
}

// report prints the flood's answers in a table.
func (f *flood) report(o options, took time.Duration) {
	o.printf("\n%d requests in %.0f s, %.0f a second\n\n", f.sent.Load(), took.Seconds(),
		float64(f.sent.Load())/took.Seconds())
	tab := tabwriter.NewWriter(o.out, 0, 0, 2, ' ', 0)
	for _, name := range slices.Sorted(maps.Keys(f.tally.of)) {
		fmt.Fprintf(tab, "%s", name)
		for _, status := range slices.Sorted(maps.Keys(f.tally.of[name])) {
			fmt.Fprintf(tab, "\t%d: %d", status, f.tally.of[name][status])
		}
		fmt.Fprintln(tab)
	}
	tab.Flush()
}

// evaluate holds the flood to what it must be answered: never 0 or 500.
func (f *flood) evaluate(v *verdict) {
	for name, statuses := range f.tally.of {
		for status, n := range statuses {
			v.want(status != 0 && status != 500, "%s: %d requests were answered %d", name, n, status)
			v.want(status != 200 && status != 303 || name != "sign-in, wrong", "%d guesses signed in", n)
		}
	}
}

// grown is a data folder before and after.
type grown struct {
	bytes int64
	rows  int
}

func measure(ctx context.Context, o options, data string) (g grown, err error) {
	g.bytes, g.rows, err = size(ctx, o.binary, data)
	return g, err
}

func (v *verdict) wantGrowth(o options, before, after grown) {
	bytes, rows := after.bytes-before.bytes, after.rows-before.rows
	o.printf("the data folder grew by %.1f MB (from %.1f), the audit trail by %d rows\n", mb(bytes), mb(before.bytes),
		rows)
	v.want(bytes < mostGrowth, "the data folder grew by %.1f MB, want less than %d", mb(bytes), mostGrowth>>20)
}

func (v *verdict) wantMemory(o options, s *server, most int64) {
	_, mapped := s.memory()
	o.printf("memory: %.0f MB at most; with the pages of files that are mapped %.0f MB\n", mb(most), mb(mapped))
	v.want(most > 0 && most < mostMemory, "the server held %.0f MB, want less than %d", mb(most), mostMemory>>20)
}

func mb(n int64) float64 { return float64(n) / (1 << 20) }

// prepare makes the people, has every second of them sign in once, and stops the server, so
// that the folder can be measured.
func prepare(ctx context.Context, o options, data string) (c *population, before grown, err error) {
	s, err := start(o, data, "--trusted-proxies", "127.0.0.1")
	if err != nil {
		return nil, before, err
	}
	defer s.kill()
	if c, err = newPopulation(o, s, data); err != nil {
		return nil, before, err
	}
	if err = c.settle(ctx, s); err != nil {
		return nil, before, err
	}
	if err = s.stop(); err != nil {
		return nil, before, err
	}
	before, err = measure(ctx, o, data)
	return c, before, err
}

func addresses(ctx context.Context, o options, data string) (verdict, error) {
	return besieged(ctx, o, data, &flood{total: o.of(floodIPv6 + floodIPv4), of: func(i int) netip.Addr {
		if i%11 == 10 {
			return flood4(i / 11)
		}
		return flood6(i - i/11)
	}})
}

// oneSite plays the holder of a /48 who asks from each /64 of it over and over.
func oneSite(ctx context.Context, o options, data string) (verdict, error) {
	return besieged(ctx, o, data, &flood{total: o.of(50 * siteWide), length: siteLasting, of: func(i int) netip.Addr {
		return netip.AddrFrom16([16]byte{0x2a, 0x10, 0, 0, 0, 1, byte(i >> 8), byte(i), 15: 1})
	}})
}

// besieged has a flood come over a server on which honest people live.
func besieged(ctx context.Context, o options, data string, f *flood) (v verdict, err error) {
	c, before, err := prepare(ctx, o, data)
	if err != nil {
		return v, err
	}
	s, err := start(o, data, "--trusted-proxies", "127.0.0.1")
	if err != nil {
		return v, err
	}
	defer s.kill()
	f.server, f.firstRun, f.seed, f.tally = s, c.firstRun, o.seed, newTally()
	if err := v.during(ctx, o, f, c); err != nil {
		return v, err
	}
	return v, v.after(ctx, o, s, data, before)
}

// during floods, with honest people about, if there are any.
func (v *verdict) during(ctx context.Context, o options, f *flood, c *population) error {
	looking, over := context.WithCancel(ctx)
	defer over()
	var beside sync.WaitGroup
	var most int64
	beside.Go(func() { most = f.server.watchMemory(looking) })
	f.began = time.Now()
	var honest sync.WaitGroup
	honest.Go(func() { c.live(ctx, f) })
	f.send(ctx)
	took := time.Since(f.began)
	f.over.Store(true) // who has not come yet does now
	honest.Wait()
	over()
	beside.Wait()
	f.report(o, took)
	f.evaluate(v)
	c.report(o)
	v.wantMemory(o, f.server, most)
	v.broken = append(v.broken, c.complaints...)
	v.want(c.lived == len(c.users), "%d of %d honest people have done all they came for", c.lived, len(c.users))
	return ctx.Err()
}

// after ends the server and looks at its folder.
func (v *verdict) after(ctx context.Context, o options, s *server, data string, before grown) error {
	if err := s.stop(); err != nil {
		return err
	}
	said := s.log.String() // that somebody was told to come back is no error
	v.want(said == "", "the server complains: %.2000s", said)
	after, err := measure(ctx, o, data)
	if err == nil {
		v.wantGrowth(o, before, after)
	}
	return err
}
