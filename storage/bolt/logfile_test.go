package bolt

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"go.etcd.io/bbolt"

	"github.com/keystile/keystile/storage/driver"
)

// A copy is a file of its own, whatever the store is at.
func TestCopyNeedsNoLog(t *testing.T) {
	s := logging(t)
	stop := make(chan struct{})
	var busy sync.WaitGroup
	for i := range 4 {
		busy.Go(func() {
			for n := 10 + i; ; n += 4 {
				select {
				case <-stop:
					return
				default:
				}
				if err := s.Issue(t.Context(), numbered(n)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	for i := range 10 {
		x := numbered(1e6 + i)
		if err := s.Issue(t.Context(), x); err != nil {
			t.Fatal(err)
		}
		var file bytes.Buffer
		if _, err := s.WriteTo(&file); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(t.TempDir(), "copy.db")
		write(t, path, file.Bytes())
		wantNoLog(t, path)
		c, err := OpenReadOnly(path, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.Token(t.Context(), x.Key); err != nil {
			t.Errorf("Token(answered before the copy) = %v", err)
		}
		c.Close()
	}
	close(stop)
	busy.Wait()
}

// The file says again that there is a log before the first block behind a copy.
func TestTokenThatIsIssuedBehindACopyOutlivesAKill(t *testing.T) {
	s := logging(t)
	if _, err := s.WriteTo(&bytes.Buffer{}); err != nil {
		t.Fatal(err)
	}
	for i := 3; i < 6; i++ {
		if err := s.Issue(t.Context(), numbered(i)); err != nil {
			t.Fatal(err)
		}
		again := openLogging(t, killed(t, s), files{})
		if _, err := again.Token(t.Context(), numbered(i).Key); err != nil {
			t.Errorf("Token(%d) = %v", i, err)
		}
	}
}

func TestCopyEndsWithTheStore(t *testing.T) {
	s := logging(t)
	s.Close()
	if _, err := s.WriteTo(&bytes.Buffer{}); !errors.Is(err, errClosed) {
		t.Errorf("WriteTo(closed) = %v, want %v", err, errClosed)
	}
}

func TestFolderThatWasLeftByAKillIsOneTruthForAll(t *testing.T) {
	left := killed(t, logging(t))
	if l, _ := about(t, left); !l.logged || l.format != 2 || l.taken != 3 {
		t.Fatalf("the file says %+v", l)
	}
	_, err := OpenReadOnly(left, Options{})
	wantError(t, err, left, "was killed", "start the service on it once, or run keystile storage compact")
	if found, err := Check(left); err != nil || found["tokens"] != 2 {
		t.Errorf("Check = %v, %v, want both tokens", found, err)
	}
	if size, err := Compact(left); err != nil || size.After == 0 {
		t.Fatalf("Compact = %v, %v", size, err)
	}
	wantNoLog(t, left)
	s, err := OpenReadOnly(left, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for i := 1; i <= 2; i++ {
		if _, err := s.Token(t.Context(), numbered(i).Key); err != nil {
			t.Errorf("Token(%d) = %v", i, err)
		}
	}
}

// The version before looks at the three keys of every format.
func TestVersionBeforeRefusesAFileWithALog(t *testing.T) {
	s := logging(t)
	left := killed(t, s)
	says := func(path string) (format, layout, since string) {
		db, err := bbolt.Open(path, 0o600, &bbolt.Options{ReadOnly: true})
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		db.View(func(tx *bbolt.Tx) error {
			b := bucket(tx, aboutBucket)
			format, layout, since = string(b.Get(formatKey)), string(b.Get(layoutKey)), string(b.Get(sinceKey))
			return nil
		})
		return format, layout, since
	}
	if f, l, since := says(left); f != "1002" || l != "1003" || since != markSince {
		t.Errorf("the file says %q, %q, %q", f, l, since)
	}
	path := s.db.Path()
	s.Close()
	if f, l, since := says(path); f != "2" || l != "3" || since != steps[0].since {
		t.Errorf("the closed file says %q, %q, %q", f, l, since)
	}
}

func TestLogThatIsMissingOrDamagedIsToldAndNothingIsChanged(t *testing.T) {
	s := logging(t)
	if _, err := s.Put(t.Context(), driver.Doc{Kind: "thing", ID: "a"}); err != nil {
		t.Fatal(err)
	}
	for i := range 5 {
		if err := s.Issue(t.Context(), numbered(10+i)); err != nil {
			t.Fatal(err)
		}
	}
	for name, c := range map[string]struct {
		change func(log []byte) []byte
		want   []string
	}{
		"missing": {func([]byte) []byte { return nil }, []string{"is not there", "put the log back"}},
		"zeros":   {func(b []byte) []byte { clear(b); return b }, []string{"does not belong", "put the log back"}},
		"cut off": {func(b []byte) []byte { return b[:9000] }, []string{"9000", "put a backup"}},
		"a flip": {func(b []byte) []byte { b[4096+100] ^= 1; return b },
			[]string{"block 1 cannot be read", "put a backup"}},
		"of later": {func(b []byte) []byte { return b }, []string{"follows transaction", "put a backup"}},
	} {
		t.Run(name, func(t *testing.T) {
			path := killed(t, s)
			log, err := os.ReadFile(path + LogSuffix)
			if err != nil {
				t.Fatal(err)
			}
			os.Remove(path + LogSuffix)
			if log = c.change(log); log != nil {
				write(t, path+LogSuffix, log)
			}
			if name == "of later" {
				olderMeta(t, path)
			}
			file, _ := os.ReadFile(path)
			for what, do := range map[string]func() error{
				"Open":    func() error { _, err := Open(path, Options{TokenLog: true}); return err },
				"Check":   func() error { _, err := Check(path); return err },
				"Compact": func() error { _, err := Compact(path); return err },
			} {
				if err := do(); err == nil {
					t.Errorf("%s = nil", what)
				} else if wantError(t, err, append(c.want, path+LogSuffix)...); what != "Check" {
					after, _ := os.ReadFile(path)
					left, _ := os.ReadFile(path + LogSuffix)
					if !bytes.Equal(after, file) || !bytes.Equal(left, log) {
						t.Errorf("%s has changed something", what)
					}
				}
			}
		})
	}
}

// olderMeta takes the last transaction of a file back, as a disk that has lost a flush does.
func olderMeta(t *testing.T, path string) {
	t.Helper()
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	size, txid := os.Getpagesize(), 16+48
	newest := 0
	if bytes.Compare(reversed(file[size+txid:size+txid+8]), reversed(file[txid:txid+8])) > 0 {
		newest = size
	}
	clear(file[newest : newest+100])
	write(t, path, file)
}

func reversed(b []byte) []byte {
	b = bytes.Clone(b)
	slices.Reverse(b)
	return b
}

func TestLogOfAnEarlierLifeIsTakenIn(t *testing.T) {
	path := killed(t, logging(t))
	for life := range 6 {
		s := openLogging(t, path, files{})
		if life == 4 { // a life without a log
			s.Close()
			plain, err := Open(path, Options{})
			if err != nil {
				t.Fatal(err)
			}
			s = plain
		}
		x, next := numbered(2+life), numbered(3+life)
		if err := s.Exchange(context.Background(), x.Key, time.Unix(5, 0), next); err != nil {
			t.Fatalf("life %d: %v", life, err)
		}
		path = killed(t, s)
		s.Close()
	}
}
