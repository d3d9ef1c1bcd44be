package limit

import (
	"encoding/binary"
	"math/bits"
	"net/netip"
	"runtime"
	"testing"
	"time"
	"unsafe"

	"github.com/keystile/keystile/internal/network"
)

// Decision 25.
func TestMillionAddressesTakeLessThan64MB(t *testing.T) {
	if testing.Short() {
		t.Skip("counts to a million")
	}
	const million = 1_000_000
	l := open(t, Config{Client: clientOf})
	before := heap()
	for i := range million {
		spend(t, l, address(i), 1, 60, start)
	}
	after := heap()
	t.Logf("HeapAlloc %.1f MB after GC at %d addresses, %.1f bytes each", float64(after)/1e6, million,
		float64(after-before)/million)
	if after >= 64e6 {
		t.Errorf("HeapAlloc = %d, want less than 64 MB", after)
	}
	for i := range million / 5 { // fills what there is for networks as well
		l.Allow(slash64(i<<8), 60, start)
		l.Allow(slash64(i<<16), 60, start)
		l.Allow(netip.AddrFrom4([4]byte{byte(i >> 8), byte(i), byte(i >> 16), 1}).String(), 60, start)
	}
	if v := l.Allow(address(million/2), 60, start); !v.OK || v.Remaining != 58 {
		t.Errorf("an address that is known: %+v, want 58 remaining", v)
	}
	grown := heap()
	t.Logf("HeapAlloc %.1f MB with networks", float64(grown)/1e6)
	if grown >= 64e6 {
		t.Errorf("HeapAlloc = %d after a flood of networks, want less than 64 MB", grown)
	}
	runtime.KeepAlive(l)
}

// The worst moment is the one after a table has grown; the million need not hit it.
func TestKeyWithOneRequestTakesAtMost52Bytes(t *testing.T) {
	if size := unsafe.Sizeof(slot{}); size != 32 {
		t.Errorf("a slot takes %d bytes, want 32", size)
	}
	if size := unsafe.Sizeof(ring{}); size != 32 {
		t.Errorf("a ring takes %d bytes beside its events, want 32", size)
	}
	if size := unsafe.Sizeof(shard{}); size != 128 {
		t.Errorf("a shard takes %d bytes, want two cache lines", size)
	}
	var tab table
	for i := range 10_000 {
		if tab.misfit() {
			tab.rebuild(-1)
		}
		tab.put(id{1, uint64(i) * 0x9e3779b97f4a7c15}).at = 0
		if cost := len(tab.slots) * 32; i >= 100 && cost > 52*tab.used {
			t.Fatalf("%d keys take %d bytes, want at most 52 each", tab.used, cost)
		}
		if len(tab.slots)*13/16 < tab.used {
			t.Fatalf("%d keys in %d slots, want an end to every search", tab.used, len(tab.slots))
		}
	}
	if cap(tab.rings) > 0 {
		t.Errorf("%d rings for keys with one request each", cap(tab.rings))
	}
}

func TestExpiredKeysDoNotPileUp(t *testing.T) {
	l := open(t, Config{})
	const perMinute = 60_000
	for i := range 5 * perMinute {
		at := start.Add(time.Duration(i) * time.Minute / perMinute)
		spend(t, l, address(i), 1+i%2, 2, at)
	}
	held, slots, rings := 0, 0, 0
	for i := range l.shards {
		s := &l.shards[i]
		held, slots, rings = held+s.used, slots+len(s.slots), rings+len(s.rings)
	}
	if int64(held) != l.keys.held.Load() {
		t.Errorf("%d keys are in the shards, %d are counted", held, l.keys.held.Load())
	}
	if held > perMinute*5/4 || slots > perMinute*5/2 || rings > perMinute {
		t.Errorf("%d keys in %d slots with %d rings, for %d live ones", held, slots, rings, perMinute)
	}
}

func TestTableShrinksAfterAFlood(t *testing.T) {
	l := open(t, Config{MaxKeys: 100_000})
	fill(t, l, 100_000, start)
	for i := range 60_000 {
		spend(t, l, address(i), 1, 1, start.Add(time.Hour+time.Duration(i)*time.Second))
	}
	slots := 0
	for i := range l.shards {
		slots += len(l.shards[i].slots)
	}
	if most := len(l.shards) * 64; slots > most {
		t.Errorf("%d slots are left, want at most %d for the 60 live keys", slots, most)
	}
}

func TestSteadyTrafficAllocatesNothing(t *testing.T) {
	l, at := open(t, Config{}), start
	keys := []string{"a", "b", "c"}
	turn := func() {
		at = at.Add(500 * time.Millisecond)
		for i, key := range keys {
			if v := l.Allow(key, 60*(i+1), at); i == 2 {
				l.Cancel(v.Receipt)
			}
		}
	}
	for range 1000 {
		turn()
	}
	if n := testing.AllocsPerRun(1000, turn); n != 0 {
		t.Errorf("%v allocations for three requests, want none", n)
	}
}

func TestMemoryLimitSpreadsManyKeysOverManyShards(t *testing.T) {
	for _, c := range []struct{ keys, want int }{
		{1, 1}, {127, 1}, {128, 2}, {1000, 8}, {16_383, 128}, {16_384, 256}, {maxKeys, 256},
	} {
		if n := len(open(t, Config{MaxKeys: c.keys}).shards); n != c.want || bits.OnesCount(uint(n)) != 1 {
			t.Errorf("%d keys have %d shards, want %d", c.keys, n, c.want)
		}
	}
	l := open(t, Config{})
	fill(t, l, 100_000, start)
	for i := range l.shards {
		if n := l.shards[i].used; n < 200 || n > 600 {
			t.Errorf("shard %d holds %d of 100,000 keys, want about 390", i, n)
		}
	}
}

func TestKeysDifferInBothHalvesOfTheirID(t *testing.T) {
	l := open(t, Config{})
	seen := [2]map[uint64]bool{{}, {}}
	for i := range 10_000 {
		k := l.identify(address(i))
		if seen[0][k[0]] || seen[1][k[1]] || k[0] == k[1] {
			t.Fatalf("id %x of %s repeats a half", k, address(i))
		}
		seen[0][k[0]], seen[1][k[1]] = true, true
	}
}

func address(i int) string {
	return netip.AddrFrom4([4]byte{10, byte(i >> 16), byte(i >> 8), byte(i)}).String()
}

// slash64 is the first address of the i-th /64 of 2400::/12 and those after it.
func slash64(i int) string {
	var b [16]byte
	binary.BigEndian.PutUint64(b[:], 0x2400<<48+uint64(i))
	return netip.AddrFrom16(b).String()
}

func clientOf(key string) (client netip.Prefix, kind string) { return prefixOf(key), "" }

func prefixOf(key string) netip.Prefix {
	a, _ := netip.ParseAddr(key)
	return network.Of(a)
}

func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
