package command

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/keystile/keystile/storage/bolt"
	"github.com/keystile/keystile/storage/driver"
)

// A program on an adapter that offers nothing but a driver.Backend does all that its Storage does
// not have to help with, and says of the rest who leaves it out.
func TestProgramRunsOnAnAdapterThatOnlyOpens(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	var dirs []string
	p := program{storage: Backend("mine", func(dir string) (driver.Backend, error) {
		dirs = append(dirs, dir)
		return bolt.Open(filepath.Join(dir, "mine.db"), bolt.Options{})
	})}
	run := func(words ...string) (int, string) {
		var out bytes.Buffer
		return p.run(t.Context(), append(words, "--data", data), strings.NewReader(""), &out, &out, nil), out.String()
	}
	for _, words := range [][]string{
		{"user", "create", "--username", "ada", "--password", "correct horse"}, {"user", "list"}, {"audit", "verify"},
		{"audit", "export"}, {"key", "rekey"},
	} {
		if code, said := run(words...); code != 0 {
			t.Errorf("keystile %s = %d %s", words, code, said)
		}
	}
	if _, said := run("user", "list"); !strings.Contains(said, "ada") {
		t.Errorf("the users are %s", said)
	}
	file := filepath.Join(t.TempDir(), "b.db")
	if err := os.WriteFile(file, []byte("a backup"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, words := range []string{"backup " + file + ".new", "restore " + file, "storage compact"} {
		name, _, _ := strings.Cut(words, " "+file)
		want := "keystile: " + name + `: the storage "mine" leaves this to the tools that come with it` + "\n"
		if code, said := run(strings.Fields(words)...); code != 1 || said != want {
			t.Errorf("keystile %s = %d %q, want 1 and %q", words, code, said, want)
		}
	}
	for _, dir := range dirs {
		if dir != data {
			t.Errorf("it was opened in %s, want %s", dir, data)
		}
	}
}
