package planted

import (
	"bytes"
	"os"
	"testing"

	"github.com/keystile/keystile/internal/test/campaigns/overlay"
)

// bug is one text of a source, and what a mistake would make of it.
type bug struct{ name, file, old, new string }

func (b bug) change() overlay.Change { return overlay.Change{File: b.file, Old: b.old, New: b.new} }

// find plants each bug in a build of its own, and has the tests of some packages look for it, which take no longer than
// that. KEYSTILE_BUG names one that is planted alone.
func find(t *testing.T, bugs []bug, packages, longest string) {
	t.Helper()
	if testing.Short() {
		t.Skip("a build for each bug")
	}
	for _, b := range bugs {
		t.Run(b.name, func(t *testing.T) {
			if only := os.Getenv("KEYSTILE_BUG"); only != "" && only != b.name {
				t.Skip("another one is asked for")
			}
			t.Parallel()
			out, err := overlay.Test(t.Context(), t.TempDir(), packages,
				[]string{"-short", "-failfast", "-count=1", "-timeout=" + longest}, b.change())
			switch {
			case err == nil:
				t.Error("no test finds it")
			case !bytes.Contains(out, []byte("--- FAIL: ")) && !bytes.Contains(out, []byte("panic: ")):
				t.Errorf("it cannot be built: %v\n%s", err, out)
			default:
				at := bytes.Index(out, []byte("--- FAIL: "))
				line, _, _ := bytes.Cut(out[max(at, 0):], []byte("\n"))
				t.Logf("note: found by %s", line)
			}
		})
	}
}

// fit holds that each bug is a change of what the sources are today.
func fit(t *testing.T, bugs []bug) {
	t.Helper()
	for _, b := range bugs {
		if err := overlay.Fits(t.Context(), b.change()); err != nil {
			t.Errorf("%s: %v", b.name, err)
		}
	}
}
