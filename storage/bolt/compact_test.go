package bolt

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/keystile/keystile/internal/handle"
	"github.com/keystile/keystile/storage/driver"
	"go.etcd.io/bbolt"
)

// emptied is a file of which most was removed, and what is left in it.
func emptied(t *testing.T, rows int) (path string, left driver.Token) {
	t.Helper()
	s := newStore(t)
	now := time.Now()
	path = s.db.Path()
	left = driver.Token{Key: handle.KeyOf("left"), Grant: "left", ExpiresAt: now.Add(time.Hour)}
	_, err := s.Put(t.Context(), driver.Doc{Kind: "thing", ID: "a", Index: []string{"all", "x"}, Data: []byte("{}")},
		driver.Doc{Kind: "thing", ID: "b"})
	err = errors.Join(err, s.Issue(t.Context(), left), s.Append(t.Context(), driver.Record{At: now, Data: []byte("x")}),
		s.Revoke(t.Context(), driver.Revocation{Kind: driver.RevokeGrant, ID: "g"}),
		s.Count(t.Context(), driver.Batch{Node: "n", Seq: 7}, []driver.Count{{AppID: "a", Product: "p", At: now, Calls: 3}}))
	if err != nil {
		t.Fatal(err)
	}
	for _, change := range []func(tx *bbolt.Tx) error{
		func(tx *bbolt.Tx) error {
			b := bucket(tx, tokensBucket)
			for i := range rows {
				if err := b.Put(appendNumber([]byte("removed"), uint64(i)), make([]byte, 200)); err != nil {
					return err
				}
			}
			return nil
		},
		func(tx *bbolt.Tx) error {
			kept := bytes.Clone(bucket(tx, tokensBucket).Get(left.Key[:]))
			if err := tx.DeleteBucket([]byte(tokensBucket)); err != nil {
				return err
			}
			b, err := tx.CreateBucket([]byte(tokensBucket))
			return errors.Join(err, b.Put(left.Key[:], kept))
		},
	} {
		if err := s.db.Update(change); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return path, left
}

// wantWhole checks that a file can be opened, has everything, and goes on where it was.
func wantWhole(t *testing.T, about, path string, left driver.Token) {
	t.Helper()
	if _, err := Check(path); err != nil {
		t.Errorf("%s: Check = %v, want nil", about, err)
	}
	s, err := Open(path, Options{Timeout: -1})
	if err != nil {
		t.Fatalf("%s: Open = %v, want nil", about, err)
	}
	defer s.Close()
	if _, err := s.Token(t.Context(), left.Key); err != nil {
		t.Errorf("%s: Token = %v, want nil", about, err)
	}
	docs, _, err := s.List(t.Context(), "thing", driver.Is("all"), 9)
	if err != nil || len(docs) != 1 {
		t.Errorf("%s: List = %v, %v, want one document", about, docs, err)
	}
	if version, err := s.Put(t.Context(), driver.Doc{Kind: "thing", ID: "c"}); err != nil || version <= docs[0].Version {
		t.Errorf("%s: Put = version %d, %v, want one that was never given", about, version, err)
	}
	rs, err := s.Revocations(t.Context(), 0, 9)
	if err != nil || len(rs) != 1 || rs[0].ID != "g" {
		t.Errorf("%s: Revocations = %v, %v, want one", about, rs, err)
	}
	if err := s.Append(t.Context(), driver.Record{At: time.Now()}); err != nil {
		t.Error(err)
	}
	if records, err := s.Records(t.Context(), 1, 9); err != nil || len(records) != 1 || records[0].Seq != 2 {
		t.Errorf("%s: Records = %v, %v, want the second", about, records, err)
	}
	if err := s.Count(t.Context(), driver.Batch{Node: "n", Seq: 7},
		[]driver.Count{{AppID: "a", Product: "p", At: time.Now(), Calls: 3}}); err != nil {
		t.Error(err)
	}
	rows, err := s.Usage(t.Context(), driver.UsageQuery{AppID: "a", To: time.Now().Add(48 * time.Hour), Daily: true})
	if err != nil || len(rows) != 1 || rows[0].Calls != 3 {
		t.Errorf("%s: Usage = %v, %v, want 3 calls", about, rows, err)
	}
}

func TestCompactFreesTheSpaceOfRemovedRows(t *testing.T) {
	path, left := emptied(t, 100_000)
	if err := os.Chmod(path, 0o640); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path+draftSuffix, []byte("what a process that died has left"), 0o600); err != nil {
		t.Fatal(err)
	}
	before, _ := os.Stat(path)
	was, err := Check(path)
	if err != nil {
		t.Fatal(err)
	}
	got, err := Compact(path)
	if err != nil {
		t.Fatal(err)
	}
	after, _ := os.Stat(path)
	if got.Before != before.Size() || got.After != after.Size() || got.After*20 > got.Before {
		t.Errorf("Compact = %+v, files of %d and %d bytes, want it to say so, and a twentieth", got, before.Size(),
			after.Size())
	}
	if after.Mode() != before.Mode() {
		t.Errorf("the new file has mode %v, want %v", after.Mode(), before.Mode())
	}
	if is, err := Check(path); err != nil || fmt.Sprint(is) != fmt.Sprint(was) {
		t.Errorf("it has %v (%v), want %v", is, err, was)
	}
	t.Logf("%d bytes became %d", got.Before, got.After)
	alone(t, path)
	wantWhole(t, "compacted", path, left)
}

// alone checks that nothing is left beside a file.
func alone(t *testing.T, path string) {
	t.Helper()
	if all, err := os.ReadDir(filepath.Dir(path)); err != nil || len(all) != 1 {
		t.Errorf("beside it: %v, %v", all, err)
	}
}

// At each step the folder is copied as a kill would leave it.
func TestKilledCompactionLeavesOneGoodFile(t *testing.T) {
	path, left := emptied(t, 3000)
	killed := map[string]string{}
	kill := func(name string) error {
		folder := t.TempDir()
		killed[name] = filepath.Join(folder, filepath.Base(path))
		return os.CopyFS(folder, os.DirFS(filepath.Dir(path)))
	}
	if _, err := compact(path, kill); err != nil {
		t.Fatal(err)
	}
	if len(killed) != 6 {
		t.Fatalf("killed at %v, want six steps", killed)
	}
	for name, path := range killed {
		wantWhole(t, "killed behind "+name, path, left)
		if _, err := Compact(path); err != nil {
			t.Errorf("killed behind %s, Compact = %v, want nil", name, err)
		}
		alone(t, path)
	}
}

func TestCompactionThatFailsChangesNothing(t *testing.T) {
	path, left := emptied(t, 3000)
	before, _ := os.ReadFile(path)
	for _, at := range []string{"look", "copy", "give away", "cut", "compare"} {
		full := func(name string) error {
			if name == at {
				return &fs.PathError{Op: "write", Path: path + draftSuffix, Err: syscall.ENOSPC}
			}
			return nil
		}
		_, err := compact(path, full)
		wantError(t, err, path, "left as it is", "no space left")
		alone(t, path)
	}
	changes := func(name string) error {
		if name == "cut" { // a disk that changes what is written
			draft, err := os.ReadFile(path + draftSuffix)
			if err != nil {
				return err
			}
			return os.WriteFile(path+draftSuffix, bytes.ReplaceAll(draft, []byte("left"), []byte("lost")), 0o600)
		}
		return nil
	}
	_, err := compact(path, changes)
	wantError(t, err, path, "left as it is", "does not have the same rows")
	if err := os.MkdirAll(path+draftSuffix+"/x", 0o700); err != nil {
		t.Fatal(err)
	}
	_, err = Compact(path)
	wantError(t, err, path+draftSuffix, "left as it is")
	os.RemoveAll(path + draftSuffix)
	if after, err := os.ReadFile(path); err != nil || !bytes.Equal(after, before) {
		t.Errorf("the file was changed (%v)", err)
	}
	wantWhole(t, "in the end", path, left)
}

func TestFileThatCannotBeCompactedIsAnErrorThatTellsWhatToDo(t *testing.T) {
	s := newStore(t)
	path := s.db.Path()
	_, err := Compact(path)
	if wantError(t, err, path, "in use by another process"); !errors.Is(err, ErrInUse) {
		t.Errorf("Compact(in use) = %v, want ErrInUse", err)
	}
	if err := s.Issue(t.Context(), numbered(1)); err != nil {
		t.Errorf("Issue(beside it) = %v, want nil", err)
	}
	none := filepath.Join(t.TempDir(), "none.db")
	if _, err := Compact(none); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Compact(nothing) = %v, want ErrNotExist", err)
	}
	if _, err := os.Stat(none); err == nil {
		t.Error("Compact(nothing) has made a file")
	}
	// Root may write anywhere, so this one is made up.
	err = explainCompact(path, &fs.PathError{Op: "open", Path: path + draftSuffix, Err: syscall.EACCES})
	wantError(t, err, "may not write in that folder", "left as it is", "permission denied")
	bad := filepath.Join(t.TempDir(), "bad.db")
	good := goodFile(t)
	write(t, bad, bytes.ReplaceAll(good, []byte("thing\x007\x00"), []byte("thing\x00x\x00")))
	_, err = Compact(bad)
	wantError(t, err, bad, "damaged", "left as it is")
}

// A link in the data folder goes on leading to the file, wherever that is.
func TestCompactFollowsALink(t *testing.T) {
	path, left := emptied(t, 3000)
	link := filepath.Join(t.TempDir(), "keystile.db")
	if err := os.Symlink(path, link); err != nil {
		t.Skip(err)
	}
	if _, err := Compact(link); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Lstat(link); err != nil || !strings.Contains(info.Mode().String(), "L") {
		t.Errorf("the link is %v, %v", info, err)
	}
	alone(t, path)
	wantWhole(t, "behind a link", link, left)
}
