package redis

import (
	"bufio"
	"crypto/rand"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"runtime/metrics"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/keystile/keystile/storage/counters"
	"github.com/keystile/keystile/storage/counters/countertest"
)

// spoilt returns nodes that have counted behind proxies which inject all kinds of things, until so many acts were
// answered.
func spoilt(t *testing.T, n int, acts int64) []node {
	ns := nodes(t, n, 100*time.Millisecond)
	for i, n := range ns {
		n.proxy.inject(newSpoiler(uint64(i)))
	}
	var group sync.WaitGroup
	for _, n := range ns {
		for range 4 {
			group.Go(func() {
				a, d := n.Addresses(counters.Lock{}), n.Accounts()
				for i := 0; n.Stats().Answered < acts; i++ {
					n.Limiter().Allow(ctx, fmt.Sprint("mess", i%7), 1_000_000, n.watch.now())
					_, undo := n.Limiter().HoldAddress(ctx, v6(i), 60, n.watch.now())
					undo()
					if a.Begin(ctx, v4(i)) == 0 {
						a.End(ctx, v4(i), i%2 == 0)
					}
					if d.Begin(ctx, [32]byte{byte(i)}) == 0 {
						d.End(ctx, [32]byte{byte(i)}, false)
					}
				}
			})
		}
	}
	group.Wait()
	return ns
}

// mended has answers pass as they are, and waits until the server counts.
func (n node) mended() {
	n.proxy.heal()
	for began := time.Now(); ; {
		n.Limiter().Allow(ctx, "mended", 1_000_000, n.watch.now())
		if s := n.Stats(); s.Connected && n.Counters.link.Up() {
			n.proxy.t.Logf("the server counts again after %v; %d acts were answered, %d late, %d refused, %d failed",
				time.Since(began), s.Answered, s.Late, s.Refused, s.Failed)
			return
		}
		runtime.Gosched()
	}
}

func TestLimitsHoldWhateverAProxyInjects(t *testing.T) {
	const limit = 200
	ns := spoilt(t, 2, 50)
	admitted := 0
	for range 2 * limit {
		for _, n := range ns {
			admitted += n.admitted(limit, 1)
		}
	}
	if admitted < limit || admitted > 2*limit {
		t.Errorf("%d are admitted meanwhile, want %d, and at most as many again", admitted, limit)
	}
	for _, n := range ns {
		n.mended()
	}
	if n := ns[0].admitted(limit, limit) + ns[1].admitted(limit, limit); n != 0 {
		t.Errorf("%d more are admitted in the window, when all is mended", n)
	}
	ns[0].watch.pass(counters.Window)
	if n := ns[0].admitted(limit, limit) + ns[1].admitted(limit, limit); n != limit {
		t.Errorf("%d are admitted in the next window, want %d", n, limit)
	}
}

// The contract, of connections that were spoilt and are mended.
func TestContractHoldsAfterAProxyHasInjected(t *testing.T) {
	server(t)
	if testing.Short() {
		t.Skip("waits for many connections to be made again")
	}
	countertest.Run(t, func(t testing.TB) countertest.Service {
		var ready []counters.Set
		prefix := "test" + rand.Text()[:12]
		for i := range 3 { // a promise is about two nodes, or a third that joins them
			p := newProxy(t)
			n := node{openAt(t, p.url(), Options{Prefix: prefix}), p, nil, newWatch()}
			p.inject(newSpoiler(uint64(i)))
			for i := range 20 {
				n.Limiter().Allow(ctx, fmt.Sprint("mess", i), 60, time.Now())
			}
			n.mended()
			ready = append(ready, n.Counters)
		}
		return countertest.Service{Grain: time.Millisecond, Node: func() counters.Set {
			n := ready[0]
			ready = ready[1:]
			return n
		}}
	})
}

// stage is a server that plays streams of bytes in place of Redis.
type stage struct {
	l      net.Listener
	played atomic.Int64
}

func newStage(t *testing.T) (s *stage, address string) {
	dir, err := os.MkdirTemp("", "") // the path of a socket is short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	socket := filepath.Join(dir, "s")
	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	s = &stage{l: l}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go s.play(c, newSpoiler(uint64(s.played.Add(1))))
		}
	}()
	return s, "unix://" + socket
}

// play answers some commands. The last answer is what is left of it when the stream ends.
func (s *stage) play(c net.Conn, by *spoiler) {
	defer c.Close()
	in := bufio.NewReader(c)
	if by.r.IntN(8) == 0 {
		c.Write(by.noise())
	}
	for range by.r.IntN(40) {
		words := commandOf(in)
		if len(words) == 0 {
			return
		}
		if _, err := c.Write(by.plays(words)); err != nil {
			return
		}
	}
	c.Write(by.ruin(answerTo([]string{"EVALSHA"})))
}

func commandOf(in *bufio.Reader) (words []string) {
	line, err := in.ReadString('\n')
	n, bad := strconv.Atoi(strings.TrimSpace(strings.TrimPrefix(line, "*")))
	if err != nil || bad != nil {
		return nil
	}
	for range n {
		line, _ := in.ReadString('\n')
		size, err := strconv.Atoi(strings.TrimSpace(strings.TrimPrefix(line, "$")))
		if err != nil {
			return nil
		}
		word := make([]byte, size+2)
		if _, err := io.ReadFull(in, word); err != nil {
			return nil
		}
		words = append(words, string(word[:size]))
	}
	return words
}

// REDIS_STREAMS=1000000 plays so many, which takes a quarter of an hour.
func TestRedisCorruptAnswersDoNotEndAProcess(t *testing.T) {
	streams := 2_000
	if n, err := strconv.Atoi(os.Getenv("REDIS_STREAMS")); err == nil {
		streams = n
	}
	s, address := newStage(t)
	runtime.GC() // What the tests before this one left is not counted.
	before := liveHeap()
	var peak atomic.Uint64
	var group sync.WaitGroup
	for range 64 {
		group.Go(func() {
			for i := 0; s.played.Load() < int64(streams); i++ {
				c, err := Open(ctx, address+"?timeout=20ms", Options{Log: quiet()})
				if err != nil {
					t.Error(err)
					return
				}
				for range 3 {
					if !c.Limiter().Allow(ctx, "ks1", 60, time.Now()).OK && !c.Stats().Connected {
						t.Error("a node that is alone refuses the first request")
					}
					c.Accounts().Begin(ctx, [32]byte{byte(i)})
				}
				c.Close()
				if i%16 == 0 {
					peak.Store(max(peak.Load(), liveHeap()))
				}
			}
		})
	}
	group.Wait()
	grown := max(peak.Load(), before) - before
	t.Logf("%d streams, at most %d MB of live heap, %d MB before", s.played.Load(), grown>>20, before>>20)
	if grown > 128<<20 {
		t.Errorf("%d MB of live heap", grown>>20)
	}
}

// liveHeap returns the bytes that the latest collection found in use. Garbage that waits for the next one is not in it:
// how much waits depends on the heap of the tests before.
func liveHeap() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}
