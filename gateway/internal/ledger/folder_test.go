package ledger

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/keystile/keystile/storage/driver"
)

func TestFileThatIsTooLargeIsNotRead(t *testing.T) {
	folder := left(t, nil)
	if err := os.Truncate(files(t, folder, ofRecords)[0], maxJournalFile+1); err != nil {
		t.Fatal(err)
	}
	if l, err := Open(t.Context(), Config{Store: newStore(), Path: folder}); err == nil ||
		!strings.Contains(err.Error(), "move it away") {
		t.Errorf("Open() = %v, %v, want an error that says what to do", l, err)
	}
}

func TestLedgersDoNotShareAJournal(t *testing.T) {
	folder, s := filepath.Join(t.TempDir(), "journal"), newStore()
	first := opened(t, Config{Store: s, Path: folder})
	l, err := Open(t.Context(), Config{Store: s, Path: folder})
	if l != nil || err == nil || !strings.Contains(err.Error(), "in use") || !strings.Contains(err.Error(), folder) {
		t.Errorf("Open(a journal in use) = %v, %v, want an error that names it", l, err)
	}
	closed(t, first)
	closed(t, opened(t, Config{Store: s, Path: folder}))
}

func TestFolderThatCannotBeMadeIsAnError(t *testing.T) {
	path := filepath.Join(t.TempDir(), "absent", "journal")
	if l, err := Open(t.Context(), Config{Store: newStore(), Path: path}); l != nil || err == nil ||
		!strings.Contains(err.Error(), path) {
		t.Errorf("Open() = %v, %v, want an error that names the folder", l, err)
	}
}

func TestJournalIsReadByItsOwnerOnly(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "journal")
	l := opened(t, Config{Store: newStore(), Path: folder, FlushEvery: time.Hour})
	charge(t, l, "app", 1)
	for _, path := range append(files(t, folder, ""), folder) {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm()&0o077 != 0 {
			t.Errorf("Stat(%s) = %v, %v, want nothing for group and others", path, info.Mode(), err)
		}
	}
}

func TestForeignFilesAreLeftAlone(t *testing.T) {
	folder := t.TempDir()
	data, _ := small()
	for _, name := range []string{"README", "NODE-7.usage", "-0000000000000007.usage", "NODE-0000000000000000.usage",
		"NODE-0000000000000007.usage~", "NODE-000000000000000G.usage"} {
		os.WriteFile(filepath.Join(folder, name), data, 0o600)
	}
	if got := counted(t, folder, &lines{}); len(got) != 0 || len(files(t, folder, "")) != 7 {
		t.Errorf("%d calls are counted, and %v left, want none, and all", len(got), files(t, folder, ""))
	}
}

// A store ignores a number that is not above the last: in another order calls are lost.
func TestBatchesAreSentAgainInTheirOrder(t *testing.T) {
	folder, s := t.TempDir(), newStore()
	var want []driver.Batch
	for _, seq := range []uint64{1, 2, 9, 10, 16, 255, 256, 1 << 60} {
		id := driver.Batch{Node: "NODE", Seq: seq}
		want = append(want, id)
		record := appendRecord(nil, &entry{"app", cell{product: strconv.FormatUint(seq, 10), hour: 1}, amount{calls: 1}, 0})
		os.WriteFile(filepath.Join(folder, fileName(id)), record, 0o600)
	}
	closed(t, opened(t, Config{Store: s, Path: folder}))
	// Close may have cut the first attempt short.
	if sent := slices.Compact(s.attempts()); !slices.Equal(sent, want) {
		t.Errorf("batches sent: %v, want %v", sent, want)
	}
	wantStored(t, s, "app", int64(len(want)))
}

func TestBatchNumbersAreNeverReused(t *testing.T) {
	s, seen := newStore(), map[driver.Batch]bool{}
	folder := t.TempDir()
	for range 5 { // the folder as it was, as if it had been lost or put back
		l := opened(t, Config{Store: s, Path: folder})
		charge(t, l, "app", 1)
		closed(t, l)
	}
	for _, b := range slices.Compact(s.attempts()) { // Close may have cut an attempt short
		if seen[b] || len(b.Node) < 26 {
			t.Errorf("batch %v was used before, or has a node that can be guessed", b)
		}
		seen[b] = true
	}
	wantStored(t, s, "app", 5)
}
