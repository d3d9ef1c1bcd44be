package bolt

import (
	"path/filepath"
	"strings"
	"testing"

	"go.etcd.io/bbolt"
)

// A damaged page may be met long after the file was opened, by a read or by a write.
func TestFileThatIsMetDamagedIsNamedWithWhatToDo(t *testing.T) {
	path := filepath.Join(t.TempDir(), "k.db")
	s, err := Open(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	damaged := func(*bbolt.Tx) error { panic("assertion failed: page 7") }
	for what, err := range map[string]error{"read": s.view(t.Context(), damaged), "write": s.write(t.Context(), damaged)} {
		if err == nil || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), "put a backup in its place") {
			t.Errorf("a %s says %v", what, err)
		}
	}
}
