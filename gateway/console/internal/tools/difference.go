package tools

import (
	"encoding/json"
	"slices"

	"github.com/keystile/keystile/storage/toolplan"
)

const maxNames = 200

// difference names the tools that are in one list alone, and those whose call or arguments differ.
func difference(before, after []toolplan.Tool) (added, removed, changed []string) {
	had, schemas := map[string]string{}, map[string]json.RawMessage{}
	for _, tool := range before {
		had[tool.Name], schemas[tool.Name] = print(tool), tool.InputSchema
	}
	for _, tool := range after {
		was, there := had[tool.Name]
		delete(had, tool.Name)
		switch {
		case !there:
			added = append(added, tool.Name)
		case was != print(tool):
			changed = append(changed, tool.Name+argumentChanges(schemas[tool.Name], tool.InputSchema))
		}
	}
	for name := range had {
		removed = append(removed, name)
	}
	for _, list := range []*[]string{&added, &removed, &changed} {
		slices.Sort(*list)
		*list = (*list)[:min(len(*list), maxNames)]
	}
	return added, removed, changed
}

// print is the same for tools that are called alike.
func print(tool toolplan.Tool) string {
	text, _ := json.Marshal([]any{tool.Method, tool.Path, tool.InputSchema, tool.Call}) // it was JSON
	return string(text)
}
