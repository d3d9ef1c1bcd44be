package wholefile

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestPlaceLeavesWhatIsThereUnlessTold(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	for i, over := range []bool{false, false, true} {
		err := Place(path, over, bytesOf([]byte(strings.Repeat("x", i+1))))
		if refused := i == 1; errors.Is(err, os.ErrExist) != refused || !refused && err != nil {
			t.Errorf("Place(over %t) the %d. time = %v", over, i+1, err)
		}
	}
	if text, err := os.ReadFile(path); string(text) != "xxx" {
		t.Errorf("the file holds %q, %v", text, err)
	}
}

func TestWrittenFileIsTheOldOneOrTheNew(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	os.WriteFile(path, []byte("old"), 0o644)
	half := func(w io.Writer) error {
		io.WriteString(w, "ne")
		return errors.New("killed")
	}
	if err := Place(path, true, half); err == nil {
		t.Fatal("no error")
	}
	if text, _ := os.ReadFile(path); string(text) != "old" {
		t.Errorf("killed half-way, the file holds %q", text)
	}
	if entries, _ := os.ReadDir(filepath.Dir(path)); len(entries) != 1 {
		t.Errorf("half a file is left behind: %v", entries)
	}
	if err := Write(path, []byte("new")); err != nil {
		t.Fatal(err)
	}
	if text, _ := os.ReadFile(path); string(text) != "new" {
		t.Errorf("the file holds %q", text)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file has mode %v, %v", info.Mode(), err)
	}
}
