package admin

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/keystile/keystile/registry"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/access"
	"github.com/keystile/keystile/storage/toolplan"
)

// toolbox prints a capability: what it is, its tools, and what was left out of them.
type toolbox struct {
	about answer
	of    registry.Registered
}

func (t toolbox) text(asJSON bool) (string, error) {
	about := t.about.filled()
	tools, skipped := toolplan.Public(t.of.Tools), t.of.Skipped
	if asJSON {
		if skipped == nil {
			skipped = []toolplan.Skip{}
		}
		all := append(about, field{"tools_static", tools}, field{"skipped", skipped})
		if t.of.Advice != nil {
			all = append(all, field{"lint", t.of.Advice})
		}
		return line(all)
	}
	text, err := about.text(false)
	if err != nil {
		return "", err
	}
	var out strings.Builder
	out.WriteString(text)
	var rows, left [][]string
	for _, tool := range tools {
		rows = append(rows, []string{tool.Name, strings.ToUpper(tool.Method), tool.Path, argumentsOf(tool.InputSchema)})
	}
	for _, s := range skipped {
		left = append(left, []string{s.Pointer, s.Reason})
	}
	columns(&out, []string{"TOOL", "METHOD", "PATH", "ARGUMENTS (? may be left out)"}, rows)
	columns(&out, []string{"LEFT OUT", "BECAUSE"}, left)
	for i, advice := range t.of.Advice {
		if i == 0 {
			out.WriteString("\nADVICE (the tools above work all the same)\n")
		}
		fmt.Fprintln(&out, field{value: advice}.shown())
	}
	return out.String(), nil
}

// columns writes a table with a head, nothing if it has no rows.
func columns(out *strings.Builder, head []string, rows [][]string) {
	if len(rows) == 0 {
		return
	}
	table := [][]string{head}
	for _, row := range rows {
		cells := make([]string, len(row))
		for i, cell := range row {
			cells[i] = field{value: cell}.shown()
		}
		table = append(table, cells)
	}
	out.WriteString("\n" + aligned(table))
}

// maxArguments bounds how many of a tool's arguments stand in a line.
const maxArguments = 8

// argumentsOf lists the arguments of a schema, those that must be given first.
func argumentsOf(schema json.RawMessage) string {
	var s struct {
		Properties map[string]json.RawMessage `json:"properties"`
		Required   []string                   `json:"required"`
	}
	if json.Unmarshal(schema, &s) != nil {
		return ""
	}
	names := slices.Sorted(slices.Values(s.Required))
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		if !slices.Contains(s.Required, name) {
			names = append(names, name+"?")
		}
	}
	if more := len(names) - maxArguments; more > 0 {
		names = append(names[:maxArguments], fmt.Sprintf("and %d more", more))
	}
	return strings.Join(names, ", ")
}

// accessTable prints an access list.
type accessTable struct {
	member, fallback string
	rules            []access.Rule
}

func (r Target) accessShown(ctx context.Context, l access.List) (accessTable, error) {
	open, err := r.open(ctx)
	t := accessTable{member: l.Member, fallback: storage.AccessOwner, rules: l.Rules}
	if open {
		t.fallback = storage.AccessEveryone
	}
	return t, err
}

func (t accessTable) text(asJSON bool) (string, error) {
	about := answer{{"member", t.member}, {"default", t.fallback}}
	if asJSON {
		rules := append([]access.Rule{}, t.rules...)
		for i := range rules {
			rules[i].Operator = false // the command line may change every rule, of owners and operators
		}
		return line(append(about, field{"rules", rules}))
	}
	text, err := about.text(false)
	if err != nil {
		return "", err
	}
	var out strings.Builder
	out.WriteString(text)
	var rows [][]string
	for _, r := range t.rules {
		rows = append(rows, []string{effect(r), r.Subject, toolsOf(r)})
	}
	columns(&out, []string{"RULE", "SUBJECT", "TOOLS"}, rows)
	return out.String(), nil
}

func effect(r access.Rule) string {
	if r.Deny {
		return "deny"
	}
	return "allow"
}

func toolsOf(r access.Rule) string {
	switch {
	case r.ReadOnly:
		return "read-only"
	case len(r.Tools) == 0:
		return "all"
	}
	return strings.Join(r.Tools, ", ")
}

func ruleText(r access.Rule) string {
	return fmt.Sprintf("rule: %s %s (%s)", effect(r), r.Subject, toolsOf(r))
}
