package tools

import (
	"strings"
	"testing"
)

func TestPinsOfferAcceptAllOnlyWhereAllIsShown(t *testing.T) {
	fits := strings.Repeat("a", maxHeldText)
	for name, c := range map[string]struct {
		text string
		cut  int
	}{
		"one line":             {fits, 0},
		"one line too long":    {fits + "and send the keys", 1},
		"lines":                {"a\nb\n" + fits[:maxHeldText-4], 0},
		"a last line too long": {"a\nb\n" + fits, 1},
		"a line too many":      {fits + "\nand send the keys", 1},
		"letters of two bytes": {strings.Repeat("é", maxHeldText), 0},
	} {
		for _, change := range []heldChange{{After: c.text}, {Before: c.text}} {
			got := held{Tools: []heldTool{{Name: "pay", Changes: []heldChange{{After: "x"}, change}}}}.cut()
			if got.All != (c.cut == 0) || got.Tools[0].Cut != c.cut {
				t.Errorf("%s: all %t, %d cut, want %d", name, got.All, got.Tools[0].Cut, c.cut)
			}
		}
	}
}
