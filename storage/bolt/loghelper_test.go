package bolt

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/keystile/keystile/storage/bolt/internal/tokenlog"
	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/transfer"
)

func openLogging(t testing.TB, path string, files files) *Store {
	t.Helper()
	if files.logAge == 0 {
		files.logAge = time.Hour // no test depends on how fast it is
	}
	s, err := Open(path, Options{TokenLog: true, files: files})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func newLogging(t testing.TB) *Store {
	t.Helper()
	return openLogging(t, filepath.Join(t.TempDir(), "keystile.db"), files{})
}

// logging is a store with one token in the file and one in its log.
func logging(t testing.TB) *Store {
	t.Helper()
	s := newLogging(t)
	if err := errors.Join(s.Issue(t.Context(), numbered(1)), s.Issue(t.Context(), numbered(2))); err != nil {
		t.Fatal(err)
	}
	if n := len(s.log.rows); n != 1 {
		t.Fatalf("%d rows are in the log, want 1", n)
	}
	return s
}

// killed copies what a store has on the disk, as it would be found if its process were killed now, and returns where.
func killed(t testing.TB, s *Store) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "keystile.db")
	for _, ending := range []string{"", LogSuffix} {
		file, err := os.ReadFile(s.db.Path() + ending)
		if ending != "" && errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err == nil {
			err = os.WriteFile(path+ending, file, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return path
}

// all returns the rows of every table.
func all(t testing.TB, s *Store) map[transfer.Table][]transfer.Row {
	t.Helper()
	tables := map[transfer.Table][]transfer.Row{}
	for _, table := range transfer.Tables() {
		var after []byte
		for {
			rows, err := s.Rows(t.Context(), table, after, 1000)
			if err != nil {
				t.Fatal(err)
			}
			if len(rows) == 0 {
				break
			}
			tables[table], after = append(tables[table], rows...), rows[len(rows)-1].Key
		}
	}
	return tables
}

func wantNoLog(t *testing.T, path string) {
	t.Helper()
	if _, err := os.Stat(path + LogSuffix); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("there is a log: %v", err)
	}
	if l, _ := about(t, path); l.logged || l.format != 2 || l.taken != 3 || l.since != steps[0].since {
		t.Errorf("the file says %+v", l)
	}
}

// counted counts the calls of a log's file.
type counted struct {
	mu    sync.Mutex
	calls map[string]int
	fail  func(call string, n int) error // n counts all calls from 1
	n     int
}

func (c *counted) open(path string) (tokenlog.File, error) {
	if err := c.note("open"); err != nil {
		return nil, err
	}
	f, err := tokenlog.OpenFile(path)
	return noting{f, c}, err
}

func (c *counted) note(call string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.calls == nil {
		c.calls = map[string]int{}
	}
	c.calls[call]++
	if c.n++; c.fail != nil {
		return c.fail(call, c.n)
	}
	return nil
}

func (c *counted) reset() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.calls = nil
}

func (c *counted) of(call string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.calls[call]
}

type noting struct {
	tokenlog.File
	c *counted
}

// WriteAt writes a part where it fails.
func (n noting) WriteAt(b []byte, at int64) (int, error) {
	if err := n.c.note("write"); err != nil {
		n.File.WriteAt(b[:len(b)/2], at)
		return len(b) / 2, err
	}
	return n.File.WriteAt(b, at)
}

func (n noting) Flush() error {
	if err := n.c.note("flush"); err != nil {
		return err
	}
	return n.File.Flush()
}

// atOnceOf is atOnce behind a job of tokens.
func atOnceOf(t *testing.T, s *Store, n int, call func(i int) error) []error {
	busy, held := make(chan struct{}), make(chan error, 1)
	go func() {
		held <- s.writeTokens(t.Context(), func(table tokenTable) error {
			<-busy
			return table.add(encode([]driver.Token{numbered(n + 1)}))
		})
	}()
	synctest.Wait()
	answers := make([]error, n)
	var callers sync.WaitGroup
	for i := range n {
		callers.Go(func() { answers[i] = call(i) })
	}
	synctest.Wait()
	close(busy)
	callers.Wait()
	if err := <-held; err != nil {
		t.Error(err)
	}
	return answers
}
