package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/keystile/keystile/internal/handle"
	"github.com/keystile/keystile/internal/test/database"
	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/postgres"
	"github.com/keystile/keystile/storage/storagetest"
)

// The suite's times are years ahead, where there are no partitions: a sweep then makes them.
func TestContractInPartitions(t *testing.T) {
	dsn := address(t, direct)
	storagetest.Run(t, func(t *testing.T) driver.Backend {
		s := open(t, dsn, postgres.Options{Schema: schemaOf(t)})
		if _, err := s.Sweep(t.Context(), time.Date(2031, time.July, 1, 0, 0, 0, 0, time.UTC), 1); err != nil {
			t.Fatal(err)
		}
		return s
	})
}

// issued stores tokens of one moment that live for a time, and returns their keys.
func issued(t *testing.T, s *postgres.Store, at time.Time, live time.Duration, n int) (keys []driver.Key) {
	t.Helper()
	for range n {
		x := driver.Token{Key: handle.KeyOf(handle.New(handle.RefreshPrefix, at)), Kind: driver.KindRefresh, Grant: "g",
			IssuedAt: at, ExpiresAt: at.Add(live)}
		if err := s.Issue(t.Context(), x); err != nil {
			t.Fatal(err)
		}
		keys = append(keys, x.Key)
	}
	return keys
}

// tables returns how many partitions there are.
func partitions(t *testing.T, schema string) (n int) {
	t.Helper()
	c := database.Connect(t)
	defer c.Close(context.Background())
	if err := c.QueryRow(t.Context(), "SELECT count(*) FROM pg_inherits WHERE inhparent = to_regclass($1)::oid AND "+
		"inhrelid::regclass::text LIKE '%token\\_w%'", schema+".token").Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

func swept(t *testing.T, s *postgres.Store, at time.Time) int {
	t.Helper()
	n, err := s.Sweep(t.Context(), at, 1000)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestTokensOfAWeekAreDroppedWithTheirPartition(t *testing.T) {
	o := postgres.Options{Schema: newSchema(t)}
	s := open(t, address(t, direct), o)
	defer s.Close()
	monday := time.Date(2031, time.June, 30, 0, 0, 0, 0, time.UTC)
	swept(t, s, monday)
	before := partitions(t, o.Schema)
	const month = 30 * 24 * time.Hour
	long := issued(t, s, monday.Add(time.Hour), month, 5)
	codes := issued(t, s, monday.Add(time.Hour), 5*time.Minute, 3)
	late := issued(t, s, monday.Add(6*24*time.Hour), month, 2)

	if n := swept(t, s, monday.Add(2*time.Hour)); n != 3 {
		t.Errorf("%d were swept after two hours, want the 3 codes", n)
	}
	for _, key := range codes {
		if _, err := s.Token(t.Context(), key); !errors.Is(err, driver.ErrNotFound) {
			t.Errorf("a code is there: %v", err)
		}
	}
	if n := swept(t, s, monday.Add(2*time.Hour+month)); n != 0 { // some of the week still live
		t.Errorf("%d were swept while tokens of the week live", n)
	}
	for _, key := range append(long, late...) {
		if _, err := s.Token(t.Context(), key); err != nil {
			t.Errorf("a token of the week: %v", err)
		}
	}
	if n := swept(t, s, monday.Add(7*24*time.Hour+month)); n != 7 {
		t.Errorf("%d were swept when the whole week has ended, want 7", n)
	}
	if after := partitions(t, o.Schema); after > before+3 {
		t.Errorf("%d partitions were %d", after, before)
	}
	if _, err := s.Token(t.Context(), long[0]); !errors.Is(err, driver.ErrNotFound) {
		t.Errorf("a token of a dropped week: %v", err)
	}
}

// Somebody has left a transaction open in a terminal.
func TestForgottenTransactionStallsNothing(t *testing.T) {
	o := postgres.Options{Schema: newSchema(t)}
	s := open(t, address(t, direct), o)
	defer s.Close()
	monday := time.Date(2031, time.June, 30, 0, 0, 0, 0, time.UTC)
	swept(t, s, monday)
	issued(t, s, monday.Add(time.Hour), 48*time.Hour, 4)

	c := database.Connect(t)
	defer c.Close(context.Background())
	tx, err := c.BeginTx(t.Context(), pgx.TxOptions{IsoLevel: pgx.RepeatableRead})
	if err != nil {
		t.Fatal(err)
	}
	for _, table := range []string{"token", "doc", "entry", "revocation", "usage", "record", "number", "batch"} {
		if _, err := tx.Exec(t.Context(), fmt.Sprintf("SELECT * FROM %s.%s", o.Schema, table)); err != nil {
			t.Fatal(err)
		}
	}

	over := monday.Add(10 * 24 * time.Hour)
	if n := swept(t, s, over); n != 0 {
		t.Errorf("%d were swept that somebody reads", n)
	}
	ctx := t.Context()
	key := issued(t, s, monday.Add(time.Hour), time.Hour, 1)[0]
	_, put := s.Put(ctx, driver.Doc{Kind: "k", ID: "i", Index: []string{"all"}})
	for name, err := range map[string]error{
		"Exchange": s.Exchange(ctx, key, over),
		"Put":      put,
		"Revoke":   s.Revoke(ctx, driver.Revocation{Kind: driver.RevokeGrant, ID: "g"}),
		"Count":    s.Count(ctx, driver.Batch{Node: "n", Seq: 1}, []driver.Count{{AppID: "a", At: over, Calls: 1}}),
		"Append":   s.Append(ctx, driver.Record{At: over}),
	} {
		if err != nil {
			t.Errorf("%s beside a forgotten transaction: %v", name, err)
		}
	}
	feed, err := s.Revocations(ctx, 0, 10)
	if err != nil || len(feed) != 1 {
		t.Errorf("the feed has %d revocations, %v, want the one that was stored meanwhile", len(feed), err)
	}
	if err := tx.Rollback(ctx); err != nil {
		t.Fatal(err)
	}
	if n := swept(t, s, over.Add(2*time.Minute)); n < 4 {
		t.Errorf("%d were swept when the transaction had ended, want the partition's", n)
	}
}

// Tables that tokens of this moment are found in take part in no search for another week's.
func TestTokensOfTheseWeeksLieInTheirPartitions(t *testing.T) {
	o := postgres.Options{Schema: newSchema(t)}
	s := open(t, address(t, direct), o)
	defer s.Close()
	now := time.Now()
	for _, at := range []time.Time{now, now.Add(7 * 24 * time.Hour), now.Add(14 * 24 * time.Hour)} {
		issued(t, s, at, time.Hour, 1)
	}
	c := database.Connect(t)
	defer c.Close(context.Background())
	rows, err := c.Query(t.Context(), "SELECT DISTINCT tableoid::regclass::text FROM "+o.Schema+".token")
	if err != nil {
		t.Fatal(err)
	}
	names, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil || len(names) != 3 || strings.Contains(strings.Join(names, " "), "other") {
		t.Errorf("tokens of three weeks lie in %v, %v", names, err)
	}
}

// holding runs a statement in a transaction that stays open until it may end.
func holding(t *testing.T, statement string, held chan<- struct{}, end <-chan struct{}) {
	c := database.Connect(t)
	defer c.Close(context.Background())
	if _, err := c.Exec(context.Background(), "BEGIN; "+statement); err != nil {
		t.Error(err)
	}
	close(held)
	<-end
}
