package fulldisk

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/keystile/keystile/internal/handle"
	"github.com/keystile/keystile/storage/bolt"
	"github.com/keystile/keystile/storage/driver"
)

const (
	page  = 4096
	pages = 4096 // of the disk
	steps = 40   // of a client while the disk is full
)

// small is a disk of its own. It is full but for some pages while filled.
type small struct{ dir string }

func newDisk(t *testing.T) small {
	t.Helper()
	d := small{t.TempDir()}
	if err := syscall.Mount("keystile", d.dir, "tmpfs", 0, fmt.Sprintf("size=%d,mode=0700", page*pages)); err != nil {
		t.Skipf("no file system can be mounted here: %v", err)
	}
	t.Cleanup(func() { syscall.Unmount(d.dir, syscall.MNT_DETACH) })
	return d
}

func (d small) fill(t *testing.T, left int) {
	t.Helper()
	var s syscall.Statfs_t
	err := syscall.Statfs(d.dir, &s)
	if err == nil {
		err = os.WriteFile(d.filler(), make([]byte, max(0, int(s.Bavail)-left)*page), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func (d small) empty() error { return os.Remove(d.filler()) }

func (d small) filler() string { return filepath.Join(d.dir, "filler") }

func (d small) database() string { return filepath.Join(d.dir, "keystile.db") }

// client holds what a store has answered.
type client struct {
	store   *bolt.Store
	spent   map[int]bool // by token: those that there are, and whether they were exchanged
	refused map[int]bool // those that there must not be
	docs    map[string]bool
	last    int // the token that is exchanged next
	next    int // the next number
	failed  int
}

func token(n int) driver.Token {
	return driver.Token{Key: handle.KeyOf(fmt.Sprint(n)), Kind: driver.KindRefresh, Grant: fmt.Sprint("grant ", n),
		ExpiresAt: time.Unix(1e10, 0)}
}

// step exchanges a token, issues one, or puts a document of three pages.
func (c *client) step(t *testing.T) {
	n := c.next
	c.next++
	var err error
	switch n % 5 {
	case 0:
		id := fmt.Sprint("doc ", n)
		_, err = c.store.Put(t.Context(), driver.Doc{Kind: "thing", ID: id, Data: make([]byte, 3*page)})
		c.docs[id] = err == nil
	case 1:
		if err = c.store.Issue(t.Context(), token(n)); err == nil {
			c.spent[n] = false
		}
		c.refused[n] = err != nil
	default:
		if err = c.store.Exchange(t.Context(), token(c.last).Key, time.Unix(int64(n), 0), token(n)); err == nil {
			c.spent[c.last], c.spent[n] = true, false
			c.last = n
		}
		c.refused[n] = err != nil
	}
	if err != nil {
		c.failed++
	}
}

// holds compares a store with what was answered.
func (c *client) holds(t *testing.T, where string, s *bolt.Store) {
	t.Helper()
	for n, spent := range c.spent {
		if x, err := s.Token(t.Context(), token(n).Key); err != nil || x.SpentAt.IsZero() == spent {
			t.Errorf("%s: token %d, exchanged %t, is exchanged at %v, %v", where, n, spent, x.SpentAt, err)
		}
	}
	for n, refused := range c.refused {
		if _, err := s.Token(t.Context(), token(n).Key); refused && !errors.Is(err, driver.ErrNotFound) {
			t.Errorf("%s: token %d, which was refused: %v, want ErrNotFound", where, n, err)
		}
	}
	for id, kept := range c.docs {
		_, err := s.Get(t.Context(), "thing", id)
		if kept && err != nil || !kept && !errors.Is(err, driver.ErrNotFound) {
			t.Errorf("%s: %s, kept %t: %v", where, id, kept, err)
		}
	}
}

// killed returns a copy of what is on the disk.
func (d small) killed(t *testing.T) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "keystile.db")
	for _, ending := range []string{"", bolt.LogSuffix} {
		file, err := os.ReadFile(d.database() + ending)
		if errors.Is(err, fs.ErrNotExist) && ending != "" {
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

func open(t *testing.T, path string, log bool) *bolt.Store {
	t.Helper()
	s, err := bolt.Open(path, bolt.Options{TokenLog: log})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// A write that was answered while the disk was full is there, and one that was refused is not, after a kill too. When
// there is room again, everything goes on.
func TestNothingIsLostOnAFullDiskWhicheverWriteFindsItFull(t *testing.T) {
	var failed int
	for _, log := range []bool{false, true} {
		for _, before := range []int{1, 2, 11} { // steps with room
			for left := 0; left < 1200; left += 1 + left/40*20 {
				t.Run(fmt.Sprintf("log %t, full after %d, %d pages left", log, before, left), func(t *testing.T) {
					failed += fullDisk(t, log, before, left)
				})
			}
		}
	}
	if failed < 1000 {
		t.Errorf("only %d steps have found the disk full", failed)
	}
}

func fullDisk(t *testing.T, log bool, before, left int) (failed int) {
	d := newDisk(t)
	c := &client{store: open(t, d.database(), log), spent: map[int]bool{0: false}, refused: map[int]bool{},
		docs: map[string]bool{}, next: 1}
	if before > 1 {
		if err := c.store.Issue(t.Context(), token(0)); err != nil {
			t.Fatal(err)
		}
	}
	for c.next < before {
		c.step(t)
	}
	if c.failed > 0 {
		t.Fatalf("%d steps fail with room", c.failed)
	}
	d.fill(t, left)
	if before == 1 { // the first token of all
		if err := c.store.Issue(t.Context(), token(0)); err != nil {
			delete(c.spent, 0)
			c.refused[0] = true
		}
	}
	for range steps {
		c.step(t)
	}
	failed = c.failed
	c.holds(t, "while it is full", c.store)
	for _, log := range []bool{false, true} {
		c.holds(t, fmt.Sprintf("after a kill, opened with a log %t", log), open(t, d.killed(t), log))
	}
	if err := d.empty(); err != nil {
		t.Fatal(err)
	}
	if len(c.spent) > 0 {
		was := c.failed
		for range steps {
			c.step(t)
		}
		if c.failed > was {
			t.Errorf("%d steps fail with room again", c.failed-was)
		}
	}
	c.holds(t, "with room again", c.store)
	if err := c.store.Close(); err != nil {
		t.Errorf("Close() = %v", err)
	}
	if _, err := os.Stat(d.database() + bolt.LogSuffix); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a store that is closed has a log: %v", err)
	}
	if _, err := bolt.Check(d.database()); err != nil {
		t.Errorf("Check() = %v", err)
	}
	c.holds(t, "opened again", open(t, d.database(), false))
	return failed
}
