package bolt

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/keystile/keystile/storage/driver"
)

func TestStoreLivesInABubble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "keystile.db")
		for life := range 3 {
			s, err := Open(path, Options{})
			if err != nil {
				t.Fatal(err)
			}
			time.Sleep(30 * 24 * time.Hour)
			if err := s.Issue(t.Context(), numbered(life)); err != nil {
				t.Errorf("Issue(token) = %v, want nil", err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
			go s.Sweep(ctx, time.Now(), 9)
			synctest.Wait()
			cancel()
			if err := s.Close(); err != nil {
				t.Errorf("Close() = %v, want nil", err)
			}
		} // a goroutine that outlives Close fails the bubble
	})
}

func TestWriteToIsABackup(t *testing.T) {
	s := newStore(t)
	if err := s.Issue(t.Context(), numbered(1)); err != nil {
		t.Fatal(err)
	}
	var file bytes.Buffer
	n, err := s.WriteTo(&busy{Buffer: &file, s: s})
	if err != nil || n != int64(file.Len()) {
		t.Fatalf("WriteTo(w) = %d, %v, want %d, nil", n, err, file.Len())
	}
	path := filepath.Join(t.TempDir(), "copy.db")
	write(t, path, file.Bytes())
	backup, err := Open(path, Options{})
	if err != nil {
		t.Fatalf("Open(copy) = %v, want nil", err)
	}
	defer backup.Close()
	if _, err := backup.Token(t.Context(), numbered(1).Key); err != nil {
		t.Errorf("Token(from before the copy) = %v, want nil", err)
	}
	if _, err := backup.Token(t.Context(), numbered(2).Key); !errors.Is(err, driver.ErrNotFound) {
		t.Errorf("Token(from beside the copy) = %v, want ErrNotFound", err)
	}
	if err := backup.Issue(t.Context(), numbered(2)); err != nil {
		t.Errorf("Issue(into the copy) = %v, want nil", err)
	}
}

// busy writes to the store before it takes the first bytes, and lets the file grow by
// more than bbolt maps at a time.
type busy struct {
	*bytes.Buffer
	s *Store
}

func (b *busy) Write(p []byte) (int, error) {
	if b.Len() > 0 {
		return b.Buffer.Write(p)
	}
	for i := range 10 {
		d := driver.Doc{Kind: "thing", ID: fmt.Sprint(i), Data: make([]byte, driver.MaxData)}
		if _, err := b.s.Put(context.Background(), d); err != nil {
			return 0, err
		}
	}
	if err := b.s.Issue(context.Background(), numbered(2)); err != nil {
		return 0, err
	}
	return b.Buffer.Write(p)
}

func TestCloseEndsABackup(t *testing.T) {
	s := newStore(t)
	w := &slow{started: make(chan struct{}), resume: s.quit}
	answer := make(chan error, 1)
	go func() {
		_, err := s.WriteTo(w)
		answer <- err
	}()
	<-w.started
	if err := s.Close(); err != nil {
		t.Errorf("Close() = %v, want nil", err)
	}
	if err := <-answer; err == nil || !strings.Contains(err.Error(), errClosed.Error()) {
		t.Errorf("WriteTo(slow) = %v, want %v", err, errClosed)
	}
}

// slow takes its first bytes when the store is closing.
type slow struct{ started, resume chan struct{} }

func (s *slow) Write(p []byte) (int, error) {
	close(s.started) // a second Write panics
	<-s.resume
	return len(p), nil
}

// Pages may be damaged anywhere and at any time. That must end in an error, or go
// unnoticed, but never end or stop the process.
func TestDamagedPagesAreErrors(t *testing.T) {
	good, pageSize := goodFile(t), os.Getpagesize()
	random := rand.New(rand.NewPCG(1, 2))
	for round := range 20 {
		file := bytes.Clone(good)
		for range 1 + round {
			page := 2 + random.IntN(len(file)/pageSize-2)
			for i := range pageSize {
				file[page*pageSize+i] = byte(random.Uint32())
			}
		}
		path := filepath.Join(t.TempDir(), "keystile.db")
		write(t, path, file)
		s, err := Open(path, Options{Timeout: -1})
		if err != nil {
			wantError(t, err, "left as it is")
			continue
		}
		useAll(t, s)
		if err := s.Close(); err != nil {
			t.Errorf("Close(damaged) = %v, want nil", err)
		}
	}
}

func TestFileCutOffWhileOpen(t *testing.T) {
	path := filepath.Join(t.TempDir(), "keystile.db")
	write(t, path, goodFile(t))
	s, err := Open(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, int64(2*os.Getpagesize())); err != nil {
		t.Fatal(err)
	}
	useAll(t, s)
	if _, err := s.Get(t.Context(), "thing", "1"); err == nil || isVerdict(err) {
		t.Errorf("Get(from a page that is gone) = %v, want trouble", err)
	}
	if err := s.Close(); err != nil {
		t.Errorf("Close(cut off) = %v, want nil", err)
	}
}

// useAll touches every page there is, and cares for no answer.
func useAll(t *testing.T, s *Store) {
	ctx := t.Context()
	for i := range 20 {
		if d, err := s.Get(ctx, "thing", fmt.Sprint(i)); err == nil {
			d.Deleted = i%2 == 0
			s.Put(ctx, d)
		}
	}
	s.List(ctx, "thing", driver.Is("all"), 100)
	s.Issue(ctx, numbered(1))
	s.Exchange(ctx, numbered(1).Key, time.Unix(1, 0), numbered(2))
	s.Revoke(ctx, driver.Revocation{Kind: driver.RevokeGrant, ID: "a", Until: time.Unix(1, 0)})
	s.Revocations(ctx, 0, 9)
	s.Count(ctx, driver.Batch{Node: "n", Seq: 1}, []driver.Count{{AppID: "a", Calls: 1}})
	s.Usage(ctx, driver.UsageQuery{AppID: "a", To: time.Unix(1, 0)})
	s.Append(ctx, driver.Record{})
	s.Records(ctx, 0, 9)
	s.Sweep(ctx, time.Unix(2, 0), 9)
	s.WriteTo(new(bytes.Buffer))
}

func TestStoreSaysHowLargeItsFileIs(t *testing.T) {
	s := newStore(t)
	info, err := os.Stat(s.db.Path())
	if err != nil {
		t.Fatal(err)
	}
	kind, version, at := s.Describe()
	if kind != "bolt" || version != "" || at != "" || s.Size() != info.Size() || s.Size() == 0 {
		t.Errorf("it is %q %q at %q with %d bytes, and the file has %d", kind, version, at, s.Size(), info.Size())
	}
}
