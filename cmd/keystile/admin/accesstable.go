package admin

import (
	"context"
	"fmt"
	"strings"

	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/access"
)

// accessTable prints an access list.
type accessTable struct {
	member, fallback string
	rules            []access.Rule
	note             string // for the audit trail
}

func (t accessTable) noted() string { return t.note }

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
			rules[i].Operator = false // the command line may change every rule, whoever has set it
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

// maxNoted bounds how many rules of a list stand on the audit trail.
const maxNoted = 20

// says is a list in a few words.
func says(rules []access.Rule) string {
	if len(rules) == 0 {
		return "default"
	}
	var parts []string
	for i, r := range rules {
		if i == maxNoted {
			parts = append(parts, fmt.Sprintf("and %d more", len(rules)-i))
			break
		}
		tools := toolsOf(r)
		if len(tools) > 200 {
			tools = fmt.Sprintf("%d tools", len(r.Tools))
		}
		parts = append(parts, effect(r)+" "+r.Subject+" ("+tools+")")
	}
	return strings.Join(parts, "; ")
}
