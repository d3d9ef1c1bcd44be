package tools

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/keystile/keystile/gateway/console/internal/ui"
)

// maxArguments bounds how many arguments of a tool a difference names.
const maxArguments = 10

// argumentChanges names the arguments that were added (+), removed (-) or changed (~) between two
// schemas, in brackets; "" if there is none. An argument that became required, or no longer is, has
// changed.
func argumentChanges(before, after json.RawMessage) string {
	was, is := members(before), members(after)
	old, now := members(was["properties"]), members(is["properties"])
	neededBefore, neededNow := requiredOf(was), requiredOf(is)
	var all []string
	for name, schema := range now {
		had, there := old[name]
		switch {
		case !there:
			all = append(all, "+"+ui.Shown(name, 60))
		case !sameJSON(had, schema) || neededBefore[name] != neededNow[name]:
			all = append(all, "~"+ui.Shown(name, 60))
		}
	}
	for name := range old {
		if _, there := now[name]; !there {
			all = append(all, "-"+ui.Shown(name, 60))
		}
	}
	if len(all) == 0 {
		return ""
	}
	slices.SortFunc(all, func(a, b string) int { return strings.Compare(a[1:]+a, b[1:]+b) })
	if len(all) > maxArguments {
		all = append(all[:maxArguments], "…")
	}
	return " (" + strings.Join(all, " ") + ")"
}

// sameJSON reports whether two schemas are written alike but for space.
func sameJSON(a, b json.RawMessage) bool {
	var x, y bytes.Buffer
	return json.Compact(&x, a) == nil && json.Compact(&y, b) == nil && bytes.Equal(x.Bytes(), y.Bytes())
}
