package bolt

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.etcd.io/bbolt"

	"github.com/keystile/keystile/storage/driver"
)

// All of these run in a bubble, where synctest.Wait knows that every caller waits.

func TestJobsThatWaitShareOneTransaction(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStore(t)
		before := transactions(t, s)
		answers := atOnce(t, s, 64, func(i int) error { return s.Issue(t.Context(), numbered(i)) })
		for i, err := range answers {
			if err != nil {
				t.Errorf("Issue(token %d) = %v, want nil", i, err)
			}
		}
		if got := transactions(t, s) - before; got != 2 {
			t.Errorf("64 jobs that wait behind one took %d transactions, want 2", got)
		}
	})
}

func TestBadJobHarmsNoOther(t *testing.T) {
	failure := errors.New("the disk is on fire")
	for name, bad := range map[string]func(tx *bbolt.Tx) error{
		"fails": func(tx *bbolt.Tx) error {
			bucket(tx, tokensBucket).Put([]byte("half"), []byte("done"))
			return failure
		},
		"panics": func(tx *bbolt.Tx) error {
			bucket(tx, tokensBucket).Put([]byte("half"), []byte("done"))
			panic(failure)
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newStore(t)
				answers := atOnce(t, s, 64, func(i int) error {
					if i == 20 || i == 40 {
						return s.write(t.Context(), bad)
					}
					return s.Issue(t.Context(), numbered(i))
				})
				for i, err := range answers {
					if bad := i == 20 || i == 40; bad != (err != nil) {
						t.Errorf("job %d of 64 = %v", i, err)
					} else if bad && !strings.Contains(err.Error(), failure.Error()) {
						t.Errorf("job %d of 64 = %v, want its own error", i, err)
					}
				}
				for i := range 64 {
					_, err := s.Token(t.Context(), numbered(i).Key)
					if bad := i == 20 || i == 40; bad != errors.Is(err, driver.ErrNotFound) {
						t.Errorf("Token(%d) = %v", i, err)
					}
				}
				s.view(t.Context(), func(tx *bbolt.Tx) error {
					if bucket(tx, tokensBucket).Get([]byte("half")) != nil {
						t.Error("what the bad job wrote is there")
					}
					return nil
				})
			})
		})
	}
}

// A job that shares its first transaction with a bad one is run again.
func TestStepCanBeRunAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, ctx := newStore(t), t.Context()
		old, doc := numbered(1), driver.Doc{Kind: "thing", ID: "a", Index: []string{"x"}, ExpiresAt: time.Unix(9, 0),
			Data: []byte("a")}
		var err error
		if doc.Version, err = s.Put(ctx, doc); err != nil || s.Issue(ctx, old) != nil {
			t.Fatal(err)
		}
		var version int64
		answers := atOnce(t, s, 8, func(i int) (err error) {
			switch i {
			case 0:
				return s.Exchange(ctx, old.Key, time.Unix(5, 0), numbered(2))
			case 1:
				return s.Issue(ctx, numbered(3))
			case 2:
				return s.Revoke(ctx, driver.Revocation{Kind: driver.RevokeJTI, ID: "a"},
					driver.Revocation{Kind: driver.RevokeJTI, ID: "a"})
			case 3:
				return s.Count(ctx, driver.Batch{Node: "n", Seq: 1}, []driver.Count{{AppID: "app", Product: "p", Calls: 1}})
			case 4:
				return s.Append(ctx, driver.Record{Data: []byte("a")}, driver.Record{Data: []byte("b")})
			case 5:
				version, err = s.Put(ctx, doc, driver.Doc{Kind: "thing", ID: "b"})
				return err
			case 6:
				_, err := s.Put(ctx, driver.Doc{Kind: "thing", ID: "c"})
				return err
			}
			return s.write(ctx, func(*bbolt.Tx) error { panic("bad") })
		})
		for i, err := range answers[:7] {
			if err != nil {
				t.Errorf("step %d = %v, want nil", i, err)
			}
		}
		spent, _ := s.Token(ctx, old.Key)
		rs, _ := s.Revocations(ctx, 0, 9)
		rows, _ := s.Usage(ctx, driver.UsageQuery{AppID: "app", To: time.Unix(0, 0)})
		trail, _ := s.Records(ctx, 0, 9)
		got, _ := s.Get(ctx, "thing", "a")
		if !spent.SpentAt.Equal(time.Unix(5, 0)) || len(rs) != 1 || len(rows) != 1 || rows[0].Calls != 1 ||
			len(trail) != 2 || got.Version != version || version <= doc.Version {
			t.Errorf("after all: spent %v, %d revocations, usage %v, %d records, version %d, want each done once",
				spent.SpentAt, len(rs), rows, len(trail), got.Version)
		}
	})
}

// A refusal is not rolled back when it shares its transaction with a success.
func TestRefusalsWriteNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, ctx := newStore(t), t.Context()
		there := driver.Doc{Kind: "thing", ID: "there"}
		if _, err := s.Put(ctx, there); err != nil || s.Issue(ctx, numbered(1), numbered(2)) != nil {
			t.Fatal(err)
		}
		answers := atOnce(t, s, 4, func(i int) error {
			switch i {
			case 0:
				return s.Issue(ctx, numbered(3), numbered(1))
			case 1:
				return s.Exchange(ctx, numbered(1).Key, time.Unix(1, 0), numbered(3), numbered(2))
			case 2:
				_, err := s.Put(ctx, driver.Doc{Kind: "thing", ID: "new"}, there)
				return err
			}
			return s.Issue(ctx, numbered(4))
		})
		for i, err := range answers {
			if verdict := [4]error{driver.ErrExists, driver.ErrExists, driver.ErrExists, nil}[i]; !errors.Is(err, verdict) {
				t.Errorf("step %d = %v, want %v", i, err, verdict)
			}
		}
		if _, err := s.Token(ctx, numbered(3).Key); !errors.Is(err, driver.ErrNotFound) {
			t.Errorf("Token(refused) = %v, want ErrNotFound", err)
		}
		if x, err := s.Token(ctx, numbered(1).Key); err != nil || !x.SpentAt.IsZero() {
			t.Errorf("Token(not exchanged) = spent at %v, %v", x.SpentAt, err)
		}
		if _, err := s.Get(ctx, "thing", "new"); !errors.Is(err, driver.ErrNotFound) {
			t.Errorf("Get(refused) = %v, want ErrNotFound", err)
		}
	})
}

func TestRefusalsCostNoTransaction(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStore(t)
		before := transactions(t, s)
		for range 3 {
			if err := s.Exchange(t.Context(), numbered(1).Key, time.Unix(5, 0)); !errors.Is(err, driver.ErrNotFound) {
				t.Fatalf("Exchange(unknown) = %v, want ErrNotFound", err)
			}
		}
		if n, err := s.Sweep(t.Context(), time.Unix(5, 0), 9); n != 0 || err != nil {
			t.Fatalf("Sweep(nothing due) = %d, %v", n, err)
		}
		if got := transactions(t, s); got != before {
			t.Errorf("refusals took %d transactions, want none", got-before)
		}
	})
}

func TestFullDiskRefusesAndRecovers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStore(t)
		s.db.MaxSize = 1 // what is in the file already stays usable
		large := driver.Doc{Kind: "thing", ID: "large", Data: make([]byte, driver.MaxData)}
		answers := atOnce(t, s, 2, func(i int) error {
			_, err := s.Put(t.Context(), large)
			return err
		})
		for _, err := range answers {
			if err == nil || isVerdict(err) {
				t.Errorf("Put(on a full disk) = %v, want trouble", err)
			}
		}
		s.db.MaxSize = 0
		if _, err := s.Put(t.Context(), large); err != nil {
			t.Errorf("Put(with room again) = %v, want nil", err)
		}
	})
}

// A commit that ends badly behind its last page is seen by readers, and may be lost in a
// power cut: nothing may be built on it.
func TestHalfCommitStopsWriting(t *testing.T) {
	s := newStore(t)
	err := s.write(t.Context(), func(tx *bbolt.Tx) error {
		tx.OnCommit(func() { panic("flush") })
		return tokenTable{tx: tx}.add(encode([]driver.Token{numbered(1)}))
	})
	if err == nil || isVerdict(err) {
		t.Errorf("write(flush fails) = %v, want trouble", err)
	}
	if err := s.Issue(t.Context(), numbered(2)); err == nil || isVerdict(err) {
		t.Errorf("Issue(behind it) = %v, want trouble", err)
	}
	if _, err := s.Token(t.Context(), numbered(1).Key); err != nil {
		t.Errorf("Token(key) = %v, want nil: reading goes on", err)
	}
	path := s.db.Path()
	if err := s.Close(); err != nil {
		t.Fatalf("Close() = %v", err)
	}
	if s, err = Open(path, Options{}); err != nil {
		t.Fatalf("Open(again) = %v", err)
	}
	defer s.Close()
	if err := s.Issue(t.Context(), numbered(2)); err != nil {
		t.Errorf("Issue(opened anew) = %v, want nil", err)
	}
}
