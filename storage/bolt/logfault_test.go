package bolt

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.etcd.io/bbolt"

	"github.com/keystile/keystile/storage/bolt/internal/tokenlog"
	"github.com/keystile/keystile/storage/driver"
)

// A call on the log may fail, whichever it is: each answer is kept, and writing goes on in the file.
func TestLogThatFailsIsGivenUpAndNothingIsLost(t *testing.T) {
	failure := errors.New("the disk is on fire")
	for n := 1; ; n++ {
		calls := counted{fail: func(_ string, i int) error {
			if i == n {
				return failure
			}
			return nil
		}}
		s := openLogging(t, filepath.Join(t.TempDir(), "keystile.db"), files{log: calls.open})
		key, last := numbered(0).Key, 0
		if err := s.Issue(t.Context(), numbered(0)); err != nil {
			t.Fatalf("call %d fails: Issue = %v", n, err)
		}
		for i := 1; i < 5; i++ {
			if err := s.Exchange(t.Context(), key, time.Unix(int64(i), 0), numbered(i)); err != nil {
				t.Fatalf("call %d fails: Exchange %d = %v", n, i, err)
			}
			key, last = numbered(i).Key, i
			path := killed(t, s)
			again := openLogging(t, path, files{})
			for j := range last + 1 {
				x, err := again.Token(t.Context(), numbered(j).Key)
				if err != nil || x.SpentAt.IsZero() != (j == last) {
					t.Errorf("call %d fails, killed behind %d: token %d is spent at %v, %v", n, i, j, x.SpentAt, err)
				}
			}
			again.Close()
		}
		if calls.n < n {
			if s.log.givenUp || n < 10 {
				t.Errorf("%d calls, given up %v", calls.n, s.log.givenUp)
			}
			return
		}
		if !s.log.givenUp || s.log.marked {
			t.Errorf("call %d fails: given up %v, marked %v", n, s.log.givenUp, s.log.marked)
		}
		path := s.db.Path()
		if err := s.Close(); err != nil {
			t.Errorf("Close() = %v", err)
		}
		wantNoLog(t, path)
	}
}

// A flush that has failed may have reached the disk all the same. A write that was refused meanwhile is not to come to
// life.
func TestBlockThatWasNotAcknowledgedIsNotReplayed(t *testing.T) {
	calls := counted{}
	s := openLogging(t, filepath.Join(t.TempDir(), "keystile.db"), files{log: calls.open})
	if err := errors.Join(s.Issue(t.Context(), numbered(1)), s.Issue(t.Context(), numbered(2))); err != nil {
		t.Fatal(err)
	}
	calls.fail = func(call string, _ int) error {
		if call == "flush" {
			return errors.New("it is written, and not flushed")
		}
		return nil
	}
	if err := s.Exchange(t.Context(), numbered(2).Key, time.Unix(5, 0)); err != nil {
		t.Fatal(err)
	}
	want := all(t, s)
	again := openLogging(t, killed(t, s), files{})
	if got := all(t, again); !reflect.DeepEqual(got, want) {
		t.Errorf("after a kill there is %v, want %v", got, want)
	}
}

// While the file cannot grow tokens go on in the log, and nothing of it is lost when it ends so.
func TestFullDiskLeavesTheLogToWriteTo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := openLogging(t, filepath.Join(t.TempDir(), "keystile.db"), files{logAge: logAge})
		if err := errors.Join(s.Issue(t.Context(), numbered(1)), s.Issue(t.Context(), numbered(2))); err != nil {
			t.Fatal(err)
		}
		s.db.MaxSize = 1
		large := driver.Doc{Kind: "thing", ID: "large", Data: make([]byte, driver.MaxData)}
		if _, err := s.Put(t.Context(), large); err == nil || isVerdict(err) {
			t.Errorf("Put(on a full disk) = %v, want trouble", err)
		}
		if err := s.Exchange(t.Context(), numbered(2).Key, time.Unix(5, 0), numbered(3)); err != nil {
			t.Errorf("Exchange(on a full disk) = %v, want that it is in the log", err)
		}
		huge := numbered(4)
		huge.Scope = strings.Repeat("s", tokenlog.Size)
		if err := s.Issue(t.Context(), huge); err == nil || isVerdict(err) {
			t.Errorf("Issue(more than the log takes) = %v, want trouble", err)
		}
		time.Sleep(3 * logAge)
		synctest.Wait()
		path := killed(t, s)
		for _, at := range []*Store{s, openLogging(t, path, files{})} {
			if x, err := at.Token(t.Context(), numbered(2).Key); err != nil || x.SpentAt.IsZero() {
				t.Errorf("Token(2) = spent at %v, %v", x.SpentAt, err)
			}
			if _, err := at.Token(t.Context(), numbered(3).Key); err != nil {
				t.Errorf("Token(3) = %v", err)
			}
			if _, err := at.Token(t.Context(), huge.Key); !errors.Is(err, driver.ErrNotFound) {
				t.Errorf("Token(refused) = %v, want ErrNotFound", err)
			}
		}
		s.db.MaxSize = 0
		if _, err := s.Put(t.Context(), large); err != nil {
			t.Errorf("Put(with room again) = %v, want nil", err)
		}
		if n, err := s.Sweep(t.Context(), time.Unix(2e10, 0), 9); n != 3 || err != nil {
			t.Errorf("Sweep = %d, %v, want all three", n, err)
		}
	})
}

// Nothing is built on a transaction of which nobody knows whether it happened, in the log neither.
func TestHalfCommitStopsTheLogToo(t *testing.T) {
	s := logging(t)
	err := s.write(t.Context(), func(tx *bbolt.Tx) error {
		tx.OnCommit(func() { panic("flush") })
		return nil
	})
	if err == nil || isVerdict(err) {
		t.Errorf("write(flush fails) = %v, want trouble", err)
	}
	if err := s.Issue(t.Context(), numbered(3)); err == nil || isVerdict(err) {
		t.Errorf("Issue(behind it) = %v, want trouble", err)
	}
	if _, err := s.Token(t.Context(), numbered(2).Key); err != nil {
		t.Errorf("Token(in the log) = %v, want nil: reading goes on", err)
	}
	path := s.db.Path()
	if err := s.Close(); err != nil {
		t.Fatalf("Close() = %v", err)
	}
	s = openLogging(t, path, files{})
	if err := s.Exchange(t.Context(), numbered(2).Key, time.Unix(1, 0), numbered(3)); err != nil {
		t.Errorf("Exchange(opened anew) = %v, want nil", err)
	}
}

// A block has a sum of its own, and so has each row: what the file would not serve does not come into it.
func TestLogWithADamagedRowIsNotReplayed(t *testing.T) {
	s := logging(t)
	if err := s.log.log.Append(s.log.base, []tokenlog.Row{{Key: numbered(3).Key, New: true,
		Value: []byte("no row")}}); err != nil {
		t.Fatal(err)
	}
	left := killed(t, s)
	before, err := os.ReadFile(left)
	if err != nil {
		t.Fatal(err)
	}
	_, opened := Open(left, Options{TokenLog: true})
	_, checked := Check(left)
	if opened == nil || checked == nil {
		t.Errorf("Open() = %v, Check() = %v, want that the row is damaged", opened, checked)
	}
	if after, err := os.ReadFile(left); err != nil || !bytes.Equal(after, before) {
		t.Errorf("Open has changed the file, %v", err)
	}
}

// A job of tokens that meets a damaged row or panics harms none of its batch.
func TestBadJobOfTokensHarmsNoOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := logging(t)
		answers := atOnceOf(t, s, 9, func(i int) error {
			switch i {
			case 3:
				return s.writeTokens(t.Context(), func(tokenTable) error { panic("a page is not readable") })
			case 5:
				return s.writeTokens(t.Context(), func(tokenTable) error { return damagedRow(tokensBucket, []byte("x")) })
			}
			return s.Issue(t.Context(), numbered(20+i))
		})
		for i, err := range answers {
			if bad := i == 3 || i == 5; bad != (err != nil) || isVerdict(err) {
				t.Errorf("job %d = %v", i, err)
			}
		}
		if s.DamagedReads() != 1 || !strings.Contains(answers[3].Error(), "put a backup in its place") {
			t.Errorf("%d damaged reads, %v", s.DamagedReads(), answers[3])
		}
		again := openLogging(t, killed(t, s), files{})
		for i := range 9 {
			_, err := again.Token(t.Context(), numbered(20+i).Key)
			if bad := i == 3 || i == 5; bad != errors.Is(err, driver.ErrNotFound) {
				t.Errorf("Token(%d) = %v", 20+i, err)
			}
		}
	})
}
