//go:build manual

package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestCommandHasAManualPage(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "man1")
	p := newProgram()
	if code := p.run("man", dir); code != ExitOK || !strings.Contains(p.out.String(), "man -l "+dir+"/prog.1") {
		t.Fatalf("man = %d %s", code, p.out.String()+p.err.String())
	}
	for name, want := range map[string]string{
		"prog.1": "SEE ALSO", "prog-app-create.1": "prog app create --x", "prog-set.1": `\fB--data\fP=DIR`, "prog-need.1": "what must be", "prog-deep-er-than.1": "many words",
	} {
		if text, err := os.ReadFile(filepath.Join(dir, name)); err != nil || !strings.Contains(string(text), want) {
			t.Errorf("%s: %v, %s; want %q", name, err, text, want)
		}
	}
}
