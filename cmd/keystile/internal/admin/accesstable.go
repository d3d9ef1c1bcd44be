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
