// Package clientname makes the names that applications claim fit to be shown to people.
package clientname

import (
	"strings"
	"unicode/utf8"

	"github.com/keystile/keystile/internal/toolschema"
)

const (
	Max      = 200 // bytes of a name
	maxRunes = 80
)

// Clean returns the name of an application as people may see it: one line of what is visible, of at
// most 80 characters. It is "" if nothing is left.
func Clean(claimed string) string {
	name := strings.Join(strings.Fields(toolschema.Text(claimed)), " ")
	runes := 0
	for i, r := range name {
		if runes++; runes > maxRunes || i+utf8.RuneLen(r) > Max {
			return strings.TrimSpace(toolschema.Text(name[:i])) // the cut may have parted what belongs together
		}
	}
	return name
}
