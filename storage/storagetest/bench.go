package storagetest

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/keystile/keystile/internal/handle"
	"github.com/keystile/keystile/storage/driver"
)

// stocked counts the tokens or documents that a Backend holds when it is measured.
const stocked = 10_000

// Bench measures a Backend at what a service does with it, for every adapter alike. Each call
// of open returns an empty Backend.
//
//	func BenchmarkContract(b *testing.B) {
//		storagetest.Bench(b, func(b *testing.B) driver.Backend { return open(b, b.TempDir()) })
//	}
//
// Issue and Exchange, which is one rotation of a refresh token, are measured for 1, 8 and 64
// callers at once: what an adapter gathers into one commit shows there. An operation of Append
// is 1,000 records, of Count 10 rows, of List 10 documents, of Sweep 1,000 tokens of those stored.
func Bench(b *testing.B, open func(b *testing.B) driver.Backend) {
	for _, m := range []struct {
		name    string
		callers []int
		prepare func(b *testing.B, s driver.Backend) (do func(caller, i int) error)
	}{
		{"Issue", []int{1, 8, 64}, benchIssue},
		{"Token", []int{1, 64}, benchToken},
		{"Exchange", []int{1, 8, 64}, benchExchange},
		{"Revoke", []int{1, 8}, benchRevoke},
		{"Count", []int{1, 8}, benchCount},
		{"Append", []int{1}, benchAppend},
		{"Put", []int{1, 8}, benchPut},
		{"Get", []int{1, 64}, benchGet},
		{"List", []int{1}, benchList},
		{"Sweep", []int{1}, benchSweep},
	} {
		for _, callers := range m.callers {
			b.Run(fmt.Sprintf("%s/callers=%d", m.name, callers), func(b *testing.B) {
				s := open(b)
				defer func() {
					if err := s.Close(); err != nil {
						b.Error(err)
					}
				}()
				measure(b, callers, m.prepare(b, s))
			})
		}
	}
}

// measure shares b.N operations among callers. Each caller's operations follow one another.
func measure(b *testing.B, callers int, do func(caller, i int) error) {
	var begun atomic.Int64
	var all sync.WaitGroup
	b.ResetTimer()
	for caller := range callers {
		all.Go(func() {
			for i := caller; begun.Add(1) <= int64(b.N); i += callers {
				if err := do(caller, i); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	all.Wait()
	b.StopTimer()
	if took := b.Elapsed().Seconds(); took > 0 {
		b.ReportMetric(float64(b.N)/took, "ops/s")
	}
}

// tokenNow makes a token as the service does.
func tokenNow(ends time.Time) driver.Token {
	now := time.Now()
	return driver.Token{
		Key: handle.KeyOf(handle.New(handle.RefreshPrefix, now)), Kind: driver.KindRefresh,
		Grant: handle.NewGrant(now), GrantedAt: now, AppID: handle.NewAppID(), UserID: "u26-characters-of-base32-ab",
		Scope: "openid profile email", IssuedAt: now, ExpiresAt: ends, AuthTime: now, LoginType: "self",
	}
}

// far is an end that no sweep here comes to.
var far = time.Date(2300, 1, 1, 0, 0, 0, 0, time.UTC)

// stock issues tokens that end at a time, and returns their keys in no order.
func stock(b *testing.B, s driver.Backend, n int, ends time.Time) []driver.Key {
	b.Helper()
	var keys []driver.Key
	for len(keys) < n {
		some := make([]driver.Token, min(n-len(keys), 1000))
		for i := range some {
			some[i] = tokenNow(ends)
			keys = append(keys, some[i].Key)
		}
		if err := s.Issue(b.Context(), some...); err != nil {
			b.Fatal(err)
		}
	}
	rand.Shuffle(len(keys), func(i, j int) { keys[i], keys[j] = keys[j], keys[i] })
	return keys
}

func benchIssue(b *testing.B, s driver.Backend) func(caller, i int) error {
	stock(b, s, stocked, far)
	return func(int, int) error { return s.Issue(b.Context(), tokenNow(far)) }
}

func benchToken(b *testing.B, s driver.Backend) func(caller, i int) error {
	keys := stock(b, s, stocked, far)
	return func(_, i int) error {
		_, err := s.Token(b.Context(), keys[i%len(keys)])
		return err
	}
}

// benchExchange has each caller rotate the tokens of its own share, wherever they lie among
// those stored; it comes round to what it stored the time before.
func benchExchange(b *testing.B, s driver.Backend) func(caller, i int) error {
	keys := stock(b, s, stocked, far)
	var turns [64]int
	share := len(keys) / len(turns)
	return func(caller, _ int) error {
		place := caller*share + turns[caller]%share
		turns[caller]++
		next := tokenNow(far)
		old := keys[place]
		keys[place] = next.Key
		return s.Exchange(b.Context(), old, next.IssuedAt, next)
	}
}

func benchRevoke(b *testing.B, s driver.Backend) func(caller, i int) error {
	return func(int, int) error {
		return s.Revoke(b.Context(), driver.Revocation{Kind: driver.RevokeGrant, ID: handle.NewGrant(time.Now()), Until: far})
	}
}

func benchCount(b *testing.B, s driver.Backend) func(caller, i int) error {
	return func(caller, i int) error {
		var counts []driver.Count
		for row := range 10 {
			counts = append(counts, driver.Count{AppID: fmt.Sprint("app ", row), Product: "ai", At: time.Now(), Calls: 100,
				Errors: 1})
		}
		return s.Count(b.Context(), driver.Batch{Node: fmt.Sprint("node ", caller), Seq: uint64(i + 1)}, counts)
	}
}

func benchAppend(b *testing.B, s driver.Backend) func(caller, i int) error {
	records := make([]driver.Record, 1000)
	for i := range records {
		records[i] = driver.Record{At: time.Now(), Data: make([]byte, 300)}
	}
	return func(int, int) error { return s.Append(b.Context(), records...) }
}

// thing is a document of the size of an application.
func thing(i int) driver.Doc {
	return driver.Doc{Kind: "thing", ID: fmt.Sprintf("%09d", i), Index: []string{"all", fmt.Sprint("owner=", i%100)},
		Data: make([]byte, 500)}
}

func stockThings(b *testing.B, s driver.Backend) {
	b.Helper()
	for i := 0; i < stocked; i += driver.MaxPut {
		docs := make([]driver.Doc, driver.MaxPut)
		for j := range docs {
			docs[j] = thing(i + j)
		}
		if _, err := s.Put(b.Context(), docs...); err != nil {
			b.Fatal(err)
		}
	}
}

func benchPut(b *testing.B, s driver.Backend) func(caller, i int) error {
	stockThings(b, s)
	return func(_, i int) error {
		_, err := s.Put(b.Context(), thing(stocked+i))
		return err
	}
}

func benchGet(b *testing.B, s driver.Backend) func(caller, i int) error {
	stockThings(b, s)
	return func(_, i int) error {
		_, err := s.Get(b.Context(), "thing", fmt.Sprintf("%09d", i%stocked))
		return err
	}
}

func benchList(b *testing.B, s driver.Backend) func(caller, i int) error {
	stockThings(b, s)
	return func(_, i int) error {
		docs, _, err := s.List(b.Context(), "thing", driver.Is(fmt.Sprint("owner=", i%100)), 10)
		if err == nil && len(docs) != 10 {
			err = fmt.Errorf("List(owner) = %d documents, want 10", len(docs))
		}
		return err
	}
}

func benchSweep(b *testing.B, s driver.Backend) func(caller, i int) error {
	stock(b, s, stocked, far)
	return func(_, i int) error {
		b.StopTimer()
		ended := time.Unix(int64(i), 0)
		stock(b, s, 1000, ended)
		b.StartTimer()
		for left := 1000; left > 0; {
			n, err := s.Sweep(b.Context(), ended, left)
			if left -= n; err != nil || n == 0 {
				return fmt.Errorf("Sweep(at) leaves %d: %w", left, err)
			}
		}
		return nil
	}
}
