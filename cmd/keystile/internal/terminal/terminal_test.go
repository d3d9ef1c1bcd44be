package terminal

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// Files that stand where a terminal could, and are none: /dev/null is a character device as a
// terminal is.
func TestTerminalIsNotWhatKeepsOrSwallowsOutput(t *testing.T) {
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer read.Close()
	defer write.Close()
	file, err := os.Create(filepath.Join(t.TempDir(), "log"))
	if err != nil {
		t.Fatal(err)
	}
	file.Close()
	for name, is := range map[string]bool{
		"a buffer": Is(new(bytes.Buffer)), "nothing": Is(nil), os.DevNull: Is(null), "a pipe": Is(write),
		"a closed file": Is(file), "no file": Is((*os.File)(nil)),
	} {
		if is {
			t.Errorf("%s is taken for a terminal", name)
		}
	}
}
