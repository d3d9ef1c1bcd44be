package serving

import (
	"os"
	"strings"
	"testing"
)

// A fault that does not fit the sources any more would be found by nobody, and not be missed.
func TestEveryFaultFitsTheSources(t *testing.T) {
	for _, name := range Names() {
		list, err := overlayOf(t.Context(), t.TempDir(), name)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		text, err := os.ReadFile(list)
		if err != nil || !strings.Contains(string(text), "planted-0.go") {
			t.Errorf("%s: the list is %s, %v", name, text, err)
		}
	}
}

func TestAnUnknownFaultIsRefusedAndThoseThereAreAreNamed(t *testing.T) {
	if _, err := Build(t.Context(), t.TempDir(), "nothing"); err == nil || !strings.Contains(err.Error(), Names()[0]) {
		t.Errorf("Build(nothing) = %v", err)
	}
}
