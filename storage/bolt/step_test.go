package bolt

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.etcd.io/bbolt"

	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/storagetest"
)

// aheadOf returns a step of the version after this one: it counts the tokens.
func aheadOf(additive bool) raising {
	return raising{since: "v9.7.0", additive: additive, do: func(tx *bbolt.Tx) error {
		b, err := tx.CreateBucketIfNotExists([]byte("ahead"))
		if err != nil {
			return err
		}
		n := bucket(tx, tokensBucket).Stats().KeyN
		return b.Put([]byte("tokens"), appendNumber(nil, uint64(n)))
	}}
}

// as runs something as the version that has these steps behind the ones of this version.
func as(t *testing.T, more []raising, do func()) {
	t.Helper()
	own := steps
	steps = slices.Concat(own, more)
	defer func() { steps = own }()
	do()
}

// opens opens a file for writing, issues a token, and closes it.
func opens(t *testing.T, path string, n int) {
	t.Helper()
	s, err := Open(path, Options{})
	if err == nil {
		err = errors.Join(s.Issue(t.Context(), numbered(n)), s.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
}

// about reads what a file says about itself, and how many tokens the next version has counted.
func about(t *testing.T, path string) (l layout, counted uint64) {
	t.Helper()
	db, err := bbolt.Open(path, 0o600, &bbolt.Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	err = db.View(func(tx *bbolt.Tx) (err error) {
		if b := tx.Bucket([]byte("ahead")); b != nil {
			counted, _ = cutNumber(b.Get([]byte("tokens")))
		}
		l, err = readLayout(tx)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return l, counted
}

func TestFileOneStepAheadIsRefusedAndLeftAsItIs(t *testing.T) {
	path := filepath.Join(t.TempDir(), "keystile.db")
	opens(t, path, 1)
	as(t, []raising{aheadOf(false)}, func() { opens(t, path, 2) })
	if l, n := about(t, path); l != (layout{format: 4, since: "v9.7.0", taken: 4}) || n != 1 {
		t.Fatalf("the next version leaves %+v and counts %d", l, n)
	}
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	w, opened := Open(path, Options{})
	r, read := OpenReadOnly(path, Options{})
	for _, s := range []*Store{w, r} {
		if s != nil {
			s.Close()
		}
	}
	_, checked := Check(path)
	_, compacted := Compact(path)
	for _, err := range []error{opened, read, checked, compacted} {
		wantError(t, err, path, `the format "4"`, "Keystile v9.7.0 does; use that version")
		if !errors.Is(err, driver.ErrNewer) {
			t.Errorf("it fails with %v, want ErrNewer", err)
		}
	}
	if after, err := os.ReadFile(path); err != nil || !bytes.Equal(after, before) {
		t.Errorf("it was changed (%v)", err)
	}
	as(t, []raising{aheadOf(false)}, func() { opens(t, path, 3) })
}

// An upgrade that only adds can be taken back, and done again: what was added is brought up to what
// the version in between has written.
func TestVersionWritesToAFileThatIsOneAdditiveStepAhead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "keystile.db")
	next := []raising{aheadOf(true)}
	as(t, next, func() { opens(t, path, 1) })
	if l, _ := about(t, path); l != (layout{format: 2, since: steps[0].since, taken: 4}) {
		t.Fatalf("the next version leaves %+v", l)
	}
	if s, err := OpenReadOnly(path, Options{}); err != nil {
		t.Errorf("OpenReadOnly(one step ahead) = %v", err)
	} else {
		s.Close()
	}
	if l, _ := about(t, path); l.taken != 4 {
		t.Errorf("reading it has changed it: %+v", l)
	}
	opens(t, path, 2)
	if l, n := about(t, path); l.taken != 3 || n != 0 {
		t.Errorf("this version leaves %+v and counts %d; want the step noted as not taken", l, n)
	}
	as(t, next, func() {
		if _, err := OpenReadOnly(path, Options{}); !errors.Is(err, errOlder) ||
			!strings.Contains(err.Error(), "start the service on it once") {
			t.Errorf("OpenReadOnly(what has to be raised) = %v", err)
		}
		opens(t, path, 3)
	})
	if l, n := about(t, path); l.taken != 4 || n != 2 {
		t.Errorf("the next version leaves %+v and counts %d, want the two tokens there were", l, n)
	}
}

func TestContractHoldsOnAFileOneAdditiveStepAhead(t *testing.T) {
	if testing.Short() {
		t.Skip("it writes some thousand times to the disk")
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "keystile.db")
	as(t, []raising{aheadOf(true)}, func() {
		s, err := Open(path, Options{})
		if err == nil {
			err = s.Close()
		}
		if err != nil {
			t.Fatal(err)
		}
	})
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	storagetest.Run(t, func(t *testing.T) driver.Backend {
		dir := t.TempDir()
		write(t, filepath.Join(dir, "keystile.db"), file)
		s, err := Open(filepath.Join(dir, "keystile.db"), Options{})
		if err != nil {
			t.Fatal(err)
		}
		return s
	})
}

// Each step is a transaction of its own: what was done stays, and the next start goes on behind it.
func TestStepThatFailsLeavesTheFileWhole(t *testing.T) {
	path := filepath.Join(t.TempDir(), "keystile.db")
	opens(t, path, 1)
	good, bad := aheadOf(false), raising{since: "v9.8.0", do: func(tx *bbolt.Tx) error {
		key := numbered(1).Key
		if err := bucket(tx, tokensBucket).Delete(key[:]); err != nil {
			return err
		}
		return errors.New("it is not to be")
	}}
	crash := raising{since: "v9.8.0", do: func(*bbolt.Tx) error { panic("a page is not readable") }}
	for _, last := range []raising{bad, crash} {
		as(t, []raising{good, last}, func() {
			_, err := Open(path, Options{})
			wantError(t, err, path, "is whole", "from format 4 to 5", "v9.8.0", "start again")
		})
		if l, n := about(t, path); l.format != 4 || n != 1 {
			t.Errorf("it leaves %+v and counts %d, want the first step taken", l, n)
		}
	}
	as(t, []raising{good, {since: "v9.8.0"}}, func() {
		s, err := Open(path, Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		if _, err := s.Token(t.Context(), numbered(1).Key); err != nil {
			t.Errorf("a token of before is gone: %v", err)
		}
	})
	if l, _ := about(t, path); l != (layout{format: 5, since: "v9.8.0", taken: 5}) {
		t.Errorf("it says %+v", l)
	}
}

func TestNewFileHasAllSteps(t *testing.T) {
	path := filepath.Join(t.TempDir(), "keystile.db")
	as(t, []raising{aheadOf(false), aheadOf(true)}, func() { opens(t, path, 1) })
	if l, _ := about(t, path); l != (layout{format: 4, since: "v9.7.0", taken: 5}) {
		t.Errorf("it says %+v", l)
	}
}

func TestLayoutThatIsNoneIsDamage(t *testing.T) {
	for key, values := range map[string][]string{"format": {"x", "0", "-1", "2.0"}, "layout": {"x", "1"}} {
		for _, value := range values {
			path := filepath.Join(t.TempDir(), "keystile.db")
			opens(t, path, 1)
			setAbout(t, path, key, value)
			_, err := Open(path, Options{})
			wantError(t, err, path, "damaged", value, "left as it is")
		}
	}
}
