package bolt

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/keystile/keystile/internal/handle"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/driver"
	"go.etcd.io/bbolt"
)

// BenchmarkCommit is the floor: one small Put in one transaction of bbolt.
func BenchmarkCommit(b *testing.B) {
	s := benchStore(b, 0)
	for i := range b.N {
		err := s.db.Update(func(tx *bbolt.Tx) error {
			return bucket(tx, auditBucket).Put(appendNumber(nil, uint64(i)), make([]byte, 300))
		})
		if err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkExchange rotates refresh tokens that lie anywhere among those stored. Set
// KEYSTILE_BENCH_ROWS=1000000 for a store of that size too.
func BenchmarkExchange(b *testing.B) {
	for _, rows := range sizes() {
		s := benchStore(b, rows)
		for _, clients := range []int{1, 64} {
			b.Run(fmt.Sprintf("rows=%d/clients=%d", rows, clients), func(b *testing.B) {
				s.exchangeAll(b, clients)
			})
		}
	}
}

// BenchmarkSweep removes 1,000 tokens of those stored.
func BenchmarkSweep(b *testing.B) {
	for _, rows := range sizes() {
		b.Run(fmt.Sprintf("rows=%d", rows), func(b *testing.B) {
			s := benchStore(b, rows)
			b.ResetTimer()
			for i := range b.N {
				b.StopTimer()
				s.fill(b, 1000, time.Unix(int64(i), 0))
				b.StartTimer()
				if n, err := s.Sweep(b.Context(), time.Unix(int64(i), 0), 1000); n != 1000 || err != nil {
					b.Fatal(n, err)
				}
			}
		})
	}
}

func BenchmarkOpen(b *testing.B) {
	for _, rows := range sizes() {
		b.Run(fmt.Sprintf("rows=%d", rows), func(b *testing.B) {
			s := benchStore(b, rows)
			path := s.db.Path()
			b.ResetTimer()
			for range b.N {
				if err := s.Close(); err != nil {
					b.Fatal(err)
				}
				var err error
				if s.Store, err = Open(path, Options{}); err != nil {
					b.Fatal(err)
				}
			}
			b.Cleanup(func() { s.Close() })
		})
	}
}

func sizes() []int {
	rows := []int{1e3, 1e5}
	if more, err := strconv.Atoi(os.Getenv("KEYSTILE_BENCH_ROWS")); err == nil {
		rows = append(rows, more)
	}
	return rows
}

// benched is a store with tokens that can be exchanged.
type benched struct {
	*Store
	live []driver.Key
}

func benchStore(b *testing.B, rows int) *benched {
	b.Helper()
	s, err := Open(filepath.Join(b.TempDir(), "keystile.db"), Options{})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { s.Close() })
	bench := &benched{Store: s}
	bench.fill(b, rows, time.Unix(1e10, 0))
	rand.Shuffle(rows, func(i, j int) { bench.live[i], bench.live[j] = bench.live[j], bench.live[i] })
	return bench
}

func (s *benched) fill(b *testing.B, rows int, ends time.Time) {
	b.Helper()
	for rows > 0 {
		some := make([]driver.Token, min(rows, 1000))
		rows -= len(some)
		for i := range some {
			some[i] = benchToken(ends)
			s.live = append(s.live, some[i].Key)
		}
		if err := s.Issue(b.Context(), some...); err != nil {
			b.Fatal(err)
		}
	}
}

func benchToken(ends time.Time) driver.Token {
	now := time.Now()
	return driver.Token{
		Key: handle.KeyOf(handle.New(handle.RefreshPrefix, now)), Kind: driver.KindRefresh,
		Grant: handle.NewGrant(now), GrantedAt: now, AppID: handle.NewAppID(), UserID: "u" + "26-characters-of-base32-ab",
		Scope: "openid profile email", IssuedAt: now, ExpiresAt: ends, AuthTime: now, LoginType: storage.LoginSelf,
	}
}

// exchangeAll shares the live tokens among the clients; each goes round its share, and
// finds there what it put there the round before.
func (s *benched) exchangeAll(b *testing.B, clients int) {
	var next atomic.Int64
	var all sync.WaitGroup
	before := s.commits(b)
	b.ResetTimer()
	for client := range clients {
		all.Go(func() {
			for i := client; next.Add(1) <= int64(b.N); i += clients {
				if i >= len(s.live) {
					i = client
				}
				follows := benchToken(time.Unix(1e10, 0))
				if err := s.Exchange(b.Context(), s.live[i], follows.IssuedAt, follows); err != nil {
					b.Error(err)
					return
				}
				s.live[i] = follows.Key
			}
		})
	}
	all.Wait()
	b.ReportMetric(float64(b.N)/cmp.Or(b.Elapsed().Seconds(), 1), "exchanges/s")
	b.ReportMetric(float64(b.N)/float64(s.commits(b)-before), "exchanges/commit")
}

// commits returns how many transactions the file has seen.
func (s *benched) commits(b *testing.B) (n int) {
	b.Helper()
	if err := s.view(b.Context(), func(tx *bbolt.Tx) error { n = tx.ID(); return nil }); err != nil {
		b.Fatal(err)
	}
	return n
}
