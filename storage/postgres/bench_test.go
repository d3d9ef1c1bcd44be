package postgres_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/handle"
	"github.com/keystile/keystile/storage/postgres"
)

// BenchmarkRotation exchanges refresh tokens, each for the next, by the Store and by bare pgx that
// sends the same statements: row 3p of README. Both run in turns; x/raw is the ratio of their rates.
func BenchmarkRotation(b *testing.B) {
	for _, callers := range []int{1, 8, 64} {
		b.Run(fmt.Sprintf("callers=%d", callers), func(b *testing.B) {
			dsn := address(b, direct)
			s := open(b, dsn, postgres.Options{Schema: newSchema(b)})
			defer s.Close()
			config, err := pgxpool.ParseConfig(dsn)
			if err != nil {
				b.Fatal(err)
			}
			config.MaxConns = 16
			raw, err := pgxpool.NewWithConfig(b.Context(), config)
			if err != nil {
				b.Fatal(err)
			}
			defer raw.Close()
			exchange, _ := s.Texts()
			ways := []func(driver.Token, driver.Token) error{
				func(t, next driver.Token) error { return s.Exchange(context.Background(), t.Key, next.IssuedAt, next) },
				func(t, next driver.Token) error {
					args, _ := postgres.ColumnsOf([]driver.Token{next})
					var used int
					err := raw.QueryRow(context.Background(), exchange, append(args, t.Key[:], postgres.Stamp(next.IssuedAt))...).Scan(&used)
					if err == nil && used != 1 {
						err = driver.ErrSpent
					}
					return err
				},
			}
			chains := make([]driver.Token, callers)
			for i := range chains {
				chains[i] = next(driver.Token{Grant: fmt.Sprint("grant ", i)})
			}
			if err := s.Issue(b.Context(), chains...); err != nil {
				b.Fatal(err)
			}
			var took [2]time.Duration
			b.ResetTimer()
			for done := 0; done < b.N; {
				round := min(max(b.N/10, callers), b.N-done)
				for i, way := range ways {
					began := time.Now()
					rotate(b, chains, round, way)
					took[i] += time.Since(began)
				}
				done += round
			}
			b.ReportMetric(float64(b.N)/took[0].Seconds(), "rotations/s")
			b.ReportMetric(took[1].Seconds()/took[0].Seconds(), "x/raw")
			b.ReportMetric(0, "ns/op")
		})
	}
}

func next(t driver.Token) driver.Token {
	now := time.Now()
	return driver.Token{
		Key: handle.KeyOf(handle.New(handle.RefreshPrefix, now)), Kind: driver.KindRefresh, Grant: t.Grant, GrantedAt: now,
		AppID: "a1b2c3d4e5f6", UserID: "0123456789abcdef", Scope: "openid profile email offline_access",
		IssuedAt: now, ExpiresAt: now.Add(30 * 24 * time.Hour), AuthTime: now, LoginType: "self",
	}
}

// rotate carries out n exchanges, every chain in a goroutine of its own.
func rotate(b *testing.B, chains []driver.Token, n int, way func(driver.Token, driver.Token) error) {
	var left atomic.Int64
	left.Store(int64(n))
	var wg sync.WaitGroup
	for i := range chains {
		wg.Go(func() {
			for left.Add(-1) >= 0 {
				n := next(chains[i])
				if err := way(chains[i], n); err != nil {
					b.Error(err)
					return
				}
				chains[i] = n
			}
		})
	}
	wg.Wait()
}
