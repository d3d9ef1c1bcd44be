package overlay

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const some = "storage/bolt/doc.go"

func TestChangeThatDoesNotFitIsAnErrorThatNamesTheFile(t *testing.T) {
	for name, changes := range map[string][]Change{
		"the text is gone":         {{File: some, Old: "no such text", New: "x"}},
		"the text is there twice":  {{File: some, Old: "bbolt", New: "x"}},
		"no text, and the file is": {{File: some, New: "package bolt\n"}},
		"the file is gone":         {{File: "storage/bolt/none.go", Old: "package", New: "x"}},
		"an earlier change took it out": {{File: some, Old: "package bolt\n", New: "package x\n"},
			{File: some, Old: "package bolt\n", New: "x"}},
	} {
		if err := Fits(t.Context(), changes...); err == nil || !strings.Contains(err.Error(), changes[0].File) {
			t.Errorf("%s: Fits() = %v, want an error that names %s", name, err, changes[0].File)
		}
		if _, err := Build(t.Context(), t.TempDir(), changes...); err == nil {
			t.Errorf("%s: it is built", name)
		}
	}
}

// Several changes of one file are made one after the other, and the tree stays as it is.
func TestChangesAreMadeBesideTheTree(t *testing.T) {
	root, err := moduleRoot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	before, err := os.ReadFile(filepath.Join(root, some))
	if err != nil {
		t.Fatal(err)
	}
	added := filepath.Join(root, "storage/bolt/added.go")
	texts, err := changed(root, []Change{
		{File: some, Old: "package bolt\n", New: "package bolt // one\n"},
		{File: some, Old: "// one\n", New: "// two\n"},
		{File: "storage/bolt/added.go", New: "package bolt\n"},
	})
	if err != nil {
		t.Fatal(err)
	}
	if text := texts[filepath.Join(root, some)]; !strings.HasSuffix(text, "package bolt // two\n") ||
		texts[added] != "package bolt\n" || len(texts) != 2 {
		t.Errorf("the changed files are %q", texts)
	}
	after, err := os.ReadFile(filepath.Join(root, some))
	if _, there := os.Stat(added); err != nil || string(after) != string(before) || there == nil {
		t.Errorf("the tree was changed (%v)", err)
	}
}
