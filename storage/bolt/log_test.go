package bolt

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.etcd.io/bbolt"

	"github.com/keystile/keystile/storage/bolt/internal/tokenlog"
	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/transfer"
)

// act does the same random thing to several stores, and fails if they answer otherwise.
func act(t *testing.T, dice *rand.Rand, stores ...*Store) {
	t.Helper()
	ctx := t.Context()
	some := func() driver.Token {
		x := numbered(dice.IntN(60))
		x.Grant, x.UserID = fmt.Sprint("g", dice.IntN(20)), fmt.Sprint("u", dice.IntN(9))
		x.ExpiresAt = time.Unix(int64(dice.IntN(40)), 5)
		return x
	}
	kind, a, b, c, key, at := dice.IntN(24), some(), some(), some(), some().Key, time.Unix(int64(dice.IntN(9)+1), 7)
	n, answers := dice.IntN(9)+1, make([]any, len(stores))
	for i, s := range stores {
		var got any
		var err error
		switch {
		case kind < 6:
			err = s.Issue(ctx, a)
		case kind < 8:
			err = s.Issue(ctx, a, b, c)
		case kind < 15:
			err = s.Exchange(ctx, key, at, a)
		case kind < 17:
			got, err = s.Token(ctx, key)
		case kind == 17:
			err = s.Revoke(ctx, driver.Revocation{Kind: driver.RevokeGrant, ID: a.Grant, Until: at})
		case kind == 18:
			err = s.Revoke(ctx, driver.Revocation{Kind: driver.RevokeUser, ID: a.UserID, Before: at})
		case kind == 19:
			got, err = s.Sweep(ctx, at, n)
		case kind == 20:
			_, err = s.Put(ctx, driver.Doc{Kind: "thing", ID: a.Grant})
		case kind == 21:
			row := transfer.TokenRow(a)
			err = s.Load(ctx, transfer.Tokens, []transfer.Row{row}, [][]byte{key[:]})
		case kind == 22:
			got, err = s.Rows(ctx, transfer.Tokens, key[:], n)
		default:
			err = s.Append(ctx, driver.Record{At: at, Data: []byte("x")})
		}
		answers[i] = fmt.Sprint(got, err)
	}
	for _, answer := range answers {
		if answer != answers[0] {
			t.Fatalf("act %d has different answers: %v", kind, answers)
		}
	}
}

// Three stores are one that never ends, without a log; one with a log that never ends; and one that is killed now and
// then. KEYSTILE_LOG_SEEDS asks for more than one run.
func TestStoreWithALogAnswersAsOneWithout(t *testing.T) {
	seeds := 1
	if text := os.Getenv("KEYSTILE_LOG_SEEDS"); text != "" {
		seeds, _ = strconv.Atoi(text)
	}
	for seed := range uint64(seeds) {
		dice := rand.New(rand.NewPCG(seed, 1))
		plain, long, short := newStore(t), newLogging(t), newLogging(t)
		for range 25 {
			for range dice.IntN(25) {
				act(t, dice, plain, long, short)
			}
			switch dice.IntN(4) {
			case 0:
				path := killed(t, short)
				short.Close()
				if dice.IntN(3) == 0 {
					if _, err := Compact(path); err != nil {
						t.Fatal(err)
					}
					wantNoLog(t, path)
				}
				short = openLogging(t, path, files{})
			case 1:
				path := short.db.Path()
				if err := short.Close(); err != nil {
					t.Fatal(err)
				}
				wantNoLog(t, path)
				short = openLogging(t, path, files{})
			case 2:
				want := all(t, plain)
				if got := all(t, long); !reflect.DeepEqual(got, want) {
					t.Fatalf("seed %d: the store with a log has %v, want %v", seed, got, want)
				}
				if got := all(t, short); !reflect.DeepEqual(got, want) {
					t.Fatalf("seed %d: the store that was killed has %v, want %v", seed, got, want)
				}
			}
		}
		for _, s := range []*Store{plain, long, short} {
			path := s.db.Path()
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			if _, err := Check(path); err != nil {
				t.Errorf("seed %d: %v", seed, err)
			}
		}
	}
}

func TestBatchOfTokensTakesOneFlushAndNoTransaction(t *testing.T) {
	var calls counted
	synctest.Test(t, func(t *testing.T) {
		s := openLogging(t, filepath.Join(t.TempDir(), "keystile.db"), files{log: calls.open})
		if err := s.Issue(t.Context(), numbered(1000)); err != nil {
			t.Fatal(err)
		}
		before := transactions(t, s)
		calls.reset()
		answers := atOnceOf(t, s, 64, func(i int) error { return s.Issue(t.Context(), numbered(i)) })
		for i, err := range answers {
			if err != nil {
				t.Errorf("Issue(token %d) = %v", i, err)
			}
		}
		if n := transactions(t, s) - before; n != 0 || calls.of("flush") != 2 || calls.of("write") != 2 {
			t.Errorf("two batches took %d transactions, %d flushes and %d writes, want 0, 2 and 2", n, calls.of("flush"),
				calls.of("write"))
		}
	})
}

// Each job of a batch sees what the ones before it have done.
func TestOneOfABatchExchangesAToken(t *testing.T) {
	for where, n := range map[string]int{"file": 1, "log": 2} {
		synctest.Test(t, func(t *testing.T) {
			s := logging(t)
			answers := atOnceOf(t, s, 8, func(i int) error {
				return s.Exchange(t.Context(), numbered(n).Key, time.Unix(1, 0), numbered(100+i))
			})
			won := 0
			for i, err := range answers {
				_, missing := s.Token(t.Context(), numbered(100+i).Key)
				switch {
				case err == nil && missing == nil:
					won++
				case !errors.Is(err, driver.ErrSpent) || !errors.Is(missing, driver.ErrNotFound):
					t.Errorf("a token of the %s: Exchange = %v, and what follows is read with %v", where, err, missing)
				}
			}
			if won != 1 {
				t.Errorf("a token of the %s was exchanged %d times", where, won)
			}
		})
	}
}

func TestLogIsInTheFileWithinASecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := openLogging(t, filepath.Join(t.TempDir(), "keystile.db"), files{logAge: logAge})
		if err := errors.Join(s.Issue(t.Context(), numbered(1)), s.Issue(t.Context(), numbered(2))); err != nil {
			t.Fatal(err)
		}
		time.Sleep(logAge / 2)
		if err := s.Issue(t.Context(), numbered(3)); err != nil || s.log.empty() {
			t.Fatalf("Issue = %v, and the log is empty: %v", err, s.log.empty())
		}
		time.Sleep(logAge/2 + 1)
		synctest.Wait()
		if !s.log.empty() {
			t.Error("the log has rows after a second")
		}
		for i := 1; i <= 3; i++ {
			if _, err := s.Token(t.Context(), numbered(i).Key); err != nil {
				t.Errorf("Token(%d) = %v", i, err)
			}
		}
	})
}

func TestLogIsInTheFileBeforeItIsLong(t *testing.T) {
	s := newLogging(t)
	many := make([]driver.Token, 500)
	for i := range 12 {
		for j := range many {
			many[j] = numbered(i*len(many) + j)
		}
		if err := s.Issue(t.Context(), many...); err != nil {
			t.Fatal(err)
		}
		if n := len(s.log.rows); n >= mostLogged+len(many) {
			t.Fatalf("%d rows are in the log", n)
		}
	}
	if got := len(all(t, s)[transfer.Tokens]); got != 12*len(many) {
		t.Errorf("there are %d tokens, want %d", got, 12*len(many))
	}
}

// A token that does not fit into a log is written to the file, and is no trouble.
func TestTokensThatAreLargerThanTheLogAreStored(t *testing.T) {
	s := logging(t)
	x := numbered(3)
	x.Scope = strings.Repeat("s", tokenlog.Size)
	if err := s.Issue(t.Context(), x); err != nil || s.log.givenUp || !s.log.empty() {
		t.Fatalf("Issue(large) = %v, given up %v", err, s.log.givenUp)
	}
	if err := s.Issue(t.Context(), numbered(4)); err != nil || s.log.empty() {
		t.Errorf("Issue(behind it) = %v, want that it is in the log", err)
	}
	path := killed(t, s)
	s = openLogging(t, path, files{})
	for i := 1; i <= 4; i++ {
		if _, err := s.Token(t.Context(), numbered(i).Key); err != nil {
			t.Errorf("Token(%d) = %v", i, err)
		}
	}
}

func TestStoreThatOnlyRefusesHasNoLog(t *testing.T) {
	s := newLogging(t)
	before := transactions(t, s)
	if err := s.Exchange(t.Context(), numbered(1).Key, time.Unix(5, 0)); !errors.Is(err, driver.ErrNotFound) {
		t.Fatal(err)
	}
	if n := transactions(t, s) - before; n != 0 {
		t.Errorf("a refusal took %d transactions", n)
	}
	if _, err := os.Stat(s.log.path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("it has made a log: %v", err)
	}
}

// One that looks into the log before a transaction, and into the file behind it, sees what the file has.
func TestTokenIsNotReadAsItWasBeforeATransaction(t *testing.T) {
	s, ctx := logging(t), t.Context()
	before := s.log.look(numbered(2).Key)
	err := s.write(ctx, func(tx *bbolt.Tx) error {
		table := tokenTable{tx: tx}
		body, err := table.find(numbered(2).Key)
		if err != nil || body == nil {
			return fmt.Errorf("the transaction does not see the token: %w", err)
		}
		return removeToken(tx, numbered(2).Key)
	})
	if err != nil || before.value == nil {
		t.Fatal(err)
	}
	s.view(ctx, func(tx *bbolt.Tx) error {
		if body, err := before.find(tx, numbered(2).Key); body != nil || err != nil {
			t.Errorf("a token that was removed is read, %v", err)
		}
		return nil
	})
}

func TestRevocationEndsATokenThatIsInTheLog(t *testing.T) {
	s, ctx := logging(t), t.Context()
	x := numbered(3)
	x.Grant = "g"
	end := driver.Revocation{Kind: driver.RevokeGrant, ID: "g"}
	if err := errors.Join(s.Issue(ctx, x), s.Revoke(ctx, end)); err != nil {
		t.Fatal(err)
	}
	if err := s.Exchange(ctx, x.Key, time.Unix(5, 0)); !errors.Is(err, driver.ErrRevoked) {
		t.Errorf("Exchange(revoked) = %v", err)
	}
	y := numbered(4)
	y.Grant = "g"
	if err := s.Issue(ctx, y); err != nil || s.log.empty() {
		t.Fatal(err)
	}
	if err := s.Exchange(ctx, y.Key, time.Unix(5, 0)); !errors.Is(err, driver.ErrRevoked) {
		t.Errorf("Exchange(of a grant that was revoked before) = %v", err)
	}
}
