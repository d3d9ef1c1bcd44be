package command

import (
	"testing"

	"github.com/keystile/keystile/internal/page"
)

// They are parsed when they are first shown, which is when a mistake in one would be found otherwise.
func TestTemplateOfTheProgramCanBeParsed(t *testing.T) {
	if n := page.ParseAll(); n < 60 {
		t.Errorf("there are %d templates, want those of sign-in and of the console", n)
	}
}
