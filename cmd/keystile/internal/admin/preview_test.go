package admin

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestReferencesAreResolvedUnlessTheFlagSaysOtherwise(t *testing.T) {
	const nested = `{"openapi":"3.0.3","paths":{"/a":{"post":{"requestBody":{"content":{"application/json":{"schema":` +
		`{"properties":{"p":{"$ref":"#/d/Deep"}}}}}}}}},"d":{"Deep":{"type":"object",` +
		`"properties":{"deep":{"type":"string"}}}}}`
	for _, server := range []bool{false, true} {
		o := workshop(t, server)
		for flag, want := range map[string]bool{"": true, "--resolve-refs": true, "--resolve-refs=false": false} {
			words := []string{"capability", "preview", "--openapi", file(t, nested), "--json"}
			if flag != "" {
				words = append(words, flag)
			}
			_, out, errs := o.run("", words...)
			if strings.Contains(out, `"deep"`) != want ||
				strings.Contains(out, "nested: Deep (not expanded)") == want ||
				strings.Contains(out, "resolve_refs") == want {
				t.Errorf("server %t, %q: %s %s, want resolved: %t", server, flag, out, errs, want)
			}
		}
	}
}

func TestPreviewNeedsNoDataFolder(t *testing.T) {
	o := workshop(t, false)
	o.data = filepath.Join(t.TempDir(), "nothing")
	o.scratch, o.opened = o.target, 0
	code, out, errs := o.run(pets, "capability", "preview", "--openapi", "-")
	if code != 0 || !strings.Contains(out, "getPet") || o.opened != 0 {
		t.Errorf("preview = %d %s %s, opened %d times", code, out, errs, o.opened)
	}
	if _, err := os.Stat(o.data); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a data folder was made: %v", err)
	}
	o.wantFailure(1, "there is no data folder", "capability", "list")
}
