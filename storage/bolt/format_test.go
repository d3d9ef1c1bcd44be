package bolt

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.etcd.io/bbolt"

	"github.com/keystile/keystile/storage/driver"
)

func TestFileOfALaterFormatIsNoDamage(t *testing.T) {
	for since, want := range map[string]string{"": "Keystile of a later version does", "v9.7.0": "Keystile v9.7.0 does"} {
		path := filepath.Join(t.TempDir(), "keystile.db")
		write(t, path, boltFile(t, aboutBucket))
		setAbout(t, path, "since", since)
		before, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		_, opened := Open(path, Options{Timeout: -1})
		_, checked := Check(path)
		for _, err := range []error{opened, checked} {
			wantError(t, err, path, "left as it is", `the format "99"`, want, "newer version of Keystile", "use that version", "the backup made before the upgrade")
			if !errors.Is(err, driver.ErrNewer) || strings.Contains(err.Error(), "damaged") {
				t.Errorf("it fails with %v, want ErrNewer and no word of damage", err)
			}
		}
		if after, err := os.ReadFile(path); err != nil || !bytes.Equal(after, before) {
			t.Errorf("the file was changed (%v)", err)
		}
	}
}

// A version that knows nothing of features reads "1" alone, so it must not find it any more.
func TestFileOfTheFirstFormatIsRaised(t *testing.T) {
	s := newStore(t)
	path := s.db.Path()
	if err := errors.Join(s.Issue(t.Context(), numbered(1)), s.Close()); err != nil {
		t.Fatal(err)
	}
	setAbout(t, path, "format", "1")
	setAbout(t, path, "layout", "")
	setAbout(t, path, "since", "")
	if _, err := Check(path); err != nil {
		t.Errorf("Check(of the first format) = %v, want nil", err)
	}
	for range 2 {
		s, err := Open(path, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Token(t.Context(), numbered(1).Key); err != nil {
			t.Errorf("Token(of the first format) = %v, want nil", err)
		}
		got := ""
		err = s.view(t.Context(), func(tx *bbolt.Tx) error {
			got = string(bucket(tx, aboutBucket).Get([]byte("format"))) + string(bucket(tx, aboutBucket).Get([]byte("since")))
			return nil
		})
		if err = errors.Join(err, s.Close()); err != nil || got != "2"+steps[0].since {
			t.Errorf("opened for writing it says %q, %v", got, err)
		}
	}
}

// A restore or a compaction may put another file in the place of the one whose lock is waited for.
func TestFileThatIsExchangedMeanwhileIsNotTheOneThatIsOpened(t *testing.T) {
	s := newStore(t)
	path, other := s.db.Path(), filepath.Join(t.TempDir(), "other.db")
	var file bytes.Buffer
	if _, err := s.WriteTo(&file); err != nil {
		t.Fatal(err)
	}
	write(t, other, file.Bytes())
	s.Close()
	opened := 0
	exchange := func() {
		if opened++; opened == 1 {
			if err := os.Rename(other, path); err != nil {
				t.Error(err)
			}
		}
	}
	s, err := Open(path, Options{files: files{opened: exchange}})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(s.Issue(t.Context(), numbered(2)), s.Close()); err != nil || opened != 2 {
		t.Errorf("it was opened %d times, %v, want twice", opened, err)
	}
	if s, err = Open(path, Options{}); err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.Token(t.Context(), numbered(2).Key); err != nil {
		t.Errorf("Token(written after the exchange) = %v, want nil", err)
	}
}

// A backup that waits for the lock while a restore ends is not to be a copy of the file that was
// restored over.
func TestFileThatIsExchangedMeanwhileIsNotTheOneThatIsRead(t *testing.T) {
	path := readable(t)
	other := filepath.Join(t.TempDir(), "other.db")
	s, err := Open(other, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(s.Issue(t.Context(), numbered(2)), s.Close()); err != nil {
		t.Fatal(err)
	}
	opened := 0
	exchange := func() {
		if opened++; opened == 1 {
			if err := os.Rename(other, path); err != nil {
				t.Error(err)
			}
		}
	}
	if s, err = OpenReadOnly(path, Options{files: files{opened: exchange}}); err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.Token(t.Context(), numbered(2).Key); err != nil || opened != 2 {
		t.Errorf("Token(of the file that has the name) = %v after %d openings, want nil after 2", err, opened)
	}
}

func setAbout(t *testing.T, path, key, value string) {
	t.Helper()
	db, err := bbolt.Open(path, 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	err = db.Update(func(tx *bbolt.Tx) error {
		if value == "" {
			return tx.Bucket([]byte(aboutBucket)).Delete([]byte(key))
		}
		return tx.Bucket([]byte(aboutBucket)).Put([]byte(key), []byte(value))
	})
	if err = errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
}
