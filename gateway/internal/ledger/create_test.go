package ledger

import (
	"path/filepath"
	"testing"

	"github.com/keystile/keystile/storage/driver"
)

func TestJournalFileThatCannotBeMadeIsNone(t *testing.T) {
	f, err := createFile(filepath.Join(t.TempDir(), "gone", "a.usage"))
	if err == nil || f != nil {
		t.Fatalf("made %v, %v", f, err)
	}
	// Its stand-in is closed without a complaint of its own.
	j := &journal{folder: filepath.Join(t.TempDir(), "gone"), create: createFile}
	s := j.begin(driver.Batch{Node: "n", Seq: 1})
	if err := s.write([]byte("x")); err == nil {
		t.Error("it was written to")
	}
	if err := s.remove(); err != nil {
		t.Errorf("removing it: %v", err)
	}
}
