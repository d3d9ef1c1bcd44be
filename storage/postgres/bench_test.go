package postgres_test

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/keystile/keystile/internal/handle"
	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/postgres"
)

// BenchmarkRotation exchanges refresh tokens, each for the next, by the Store and by bare pgx that sends the
// same statements: row 3p of internal/test/campaigns/bench/README.md. Both run in turns; x/raw is the ratio of
// their rates.
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
					err := raw.QueryRow(context.Background(), exchange, append(args, t.Key[:],
						postgres.Stamp(next.IssuedAt))...).Scan(&used)
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

// BenchmarkRotationAmong exchanges tokens that lie anywhere among so many, issued in the last 30 days.
func BenchmarkRotationAmong(b *testing.B) {
	for _, stored := range []int{1e4, 1e6, 1e7} {
		b.Run(fmt.Sprintf("tokens=%d", stored), func(b *testing.B) {
			o := postgres.Options{Schema: newSchema(b)}
			s := open(b, address(b, direct), o)
			defer s.Close()
			start := time.Now().Add(-month).Truncate(time.Second)
			fill(b, s, o.Schema, start, stored)
			b.ResetTimer()
			var turn atomic.Int64
			var wg sync.WaitGroup
			for range 8 {
				wg.Go(func() {
					for i := turn.Add(1); i <= int64(b.N); i = turn.Add(1) {
						which := int(i*7_368_787) % stored // a prime: none comes twice
						n := next(driver.Token{Grant: fmt.Sprint("grant ", which)})
						if err := s.Exchange(context.Background(), filled(start, stored, which), n.IssuedAt, n); err != nil {
							b.Error(which, err)
							return
						}
					}
				})
			}
			wg.Wait()
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "rotations/s")
			b.ReportMetric(0, "ns/op")
		})
	}
}

const month = 30 * 24 * time.Hour

// filled returns the key of a token that fill has made.
func filled(start time.Time, n, which int) (key driver.Key) {
	binary.BigEndian.PutUint64(key[:], uint64(start.UnixNano())+uint64(which)*uint64(int(month)/n))
	sum := sha256.Sum256([]byte(strconv.Itoa(which)))
	copy(key[8:], sum[:])
	return key
}

// fill stores tokens, as far apart from each other as fits them into a month.
func fill(b *testing.B, s *postgres.Store, schema string, start time.Time, n int) {
	for at := start; at.Before(time.Now()); at = at.Add(7 * 24 * time.Hour) {
		if err := s.MakePartitions(b.Context(), at); err != nil {
			b.Fatal(err)
		}
	}
	sql(b, fmt.Sprintf(`INSERT INTO %s.token (key, grant_id, app, usr, granted, ends, brief, rest)
		SELECT int8send(%d + i * %d::bigint) || sha256(i::text::bytea), 'grant ' || i, 'a1b2c3d4e5f6', '0123456789abcdef', '\x%x', '\x%x', false,
			'{"kind":"refresh","scope":"openid profile email offline_access","login_type":"self"}'
		FROM generate_series(0, %d) AS i`, schema, start.UnixNano(), int(month)/n, postgres.Stamp(start), postgres.Stamp(start.Add(3*month)), n-1),
		"ANALYZE "+schema+".token", "CHECKPOINT")
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
