package toolacts

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/keystile/keystile/internal/admin"
	"github.com/keystile/keystile/internal/reply"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/access"
)

// OperatorsRule refuses an owner who would take away a rule that an operator has set.
// decision 101
var OperatorsRule = &reply.Failure{Status: 403,
	Msg: "an operator has set this rule, so only an operator takes it away: ask one"}

// AccessChange is a change of an access list, in this order. One that does nothing is none.
type AccessChange struct {
	Reset  bool                   // every rule goes
	Remove func(access.Rule) bool // the rules that go; nil: none. Where none fits, the rule is Missing
	Add    []access.Rule          // they take the place of rules about the same subject and tools; users are named by sub
}

// SetAccess changes who may use the tools of a capability; rules that were added come last in the list. The
// owner of the capability may, and administrators, whose rules stay until one of them takes them away.
func (a *Acts) SetAccess(ctx context.Context, by admin.Actor, member string, ch AccessChange) (before,
	after access.List, err error) {
	c, err := a.own(ctx, by, member)
	if err != nil {
		return before, after, err
	}
	if ch, err = a.checked(ctx, by, c.Member, ch); err != nil {
		return before, after, err
	}
	after, err = storage.RetryOnConflict(ctx, func() (access.List, error) {
		l, err := a.c.Store.Access(ctx, c.Member)
		if err != nil {
			return l, err
		}
		before = l
		if l.Rules, err = ch.apply(by, l.Rules); err != nil {
			return l, err
		}
		return a.c.Store.SaveAccess(ctx, l)
	})
	if err != nil {
		return before, after, missing(err, "capability", member)
	}
	return before, after, a.done(ctx, by, admin.Act{
		What: "capability access", On: c.Member, User: c.Owner, Changes: accessChanges(before.Rules, after.Rules),
	})
}

// checked returns a change with its rules as they are stored, and refuses those that cannot be.
func (a *Acts) checked(ctx context.Context, by admin.Actor, member string, ch AccessChange) (AccessChange, error) {
	ch.Add = slices.Clone(ch.Add)
	for i := range ch.Add {
		r := &ch.Add[i]
		r.Tools, r.Operator = slices.Compact(slices.Sorted(slices.Values(r.Tools))), by.Admin() == nil
		if err := a.checkRule(ctx, member, *r); err != nil {
			return ch, err
		}
	}
	return ch, nil
}

// checkRule refuses a rule about somebody, or for a tool, that does not exist.
func (a *Acts) checkRule(ctx context.Context, member string, r access.Rule) error {
	s, err := access.ParseSubject(r.Subject)
	switch {
	case err != nil:
		return err
	case s.Kind == access.SubjectGroup:
		_, err = a.c.Store.Group(ctx, s.Name)
		err = missing(err, "group", s.Name)
	case s.Kind == access.SubjectUser:
		_, err = a.c.Store.User(ctx, s.Name)
		err = missing(err, "user", s.Name)
	case s.Kind == access.SubjectApp:
		_, err = a.c.Store.App(ctx, s.Name)
		err = missing(err, "application", s.Name)
	}
	if err != nil || len(r.Tools) == 0 {
		return err
	}
	return a.hasTools(ctx, member, r.Tools)
}

// apply returns rules as they are after a change.
func (ch AccessChange) apply(by admin.Actor, rules []access.Rule) ([]access.Rule, error) {
	after := slices.Clone(rules)
	if ch.Reset {
		after = nil
	}
	if ch.Remove != nil {
		there := len(after)
		if after = slices.DeleteFunc(after, ch.Remove); len(after) == there {
			return nil, &Missing{Kind: "rule"}
		}
	}
	for _, n := range ch.Add {
		after = append(slices.DeleteFunc(after, func(old access.Rule) bool {
			old.Deny = n.Deny // one that says the opposite goes, too
			return old.Same(n)
		}), n)
	}
	stays := func(r access.Rule) bool {
		return slices.ContainsFunc(after, func(is access.Rule) bool { return is.Operator && is.Same(r) })
	}
	if by.Admin() != nil && slices.ContainsFunc(rules, func(r access.Rule) bool { return r.Operator && !stays(r) }) {
		return nil, OperatorsRule
	}
	return after, nil
}

// maxNoted bounds how many rules of a list stand on the audit trail.
const maxNoted = 100

func accessChanges(before, after []access.Rule) []string {
	changes := []string{fmt.Sprintf("%d rules -> %d", len(before), len(after))}
	changes = append(changes, gone("- ", before, after)...)
	return append(changes, gone("+ ", after, before)...)
}

// gone writes the rules of one list that another has not.
func gone(sign string, from, in []access.Rule) (all []string) {
	for _, r := range from {
		if !slices.ContainsFunc(in, r.Same) {
			all = append(all, sign+says(r))
		}
	}
	if more := len(all) - maxNoted; more > 0 {
		all = append(all[:maxNoted], fmt.Sprintf("%s%d more", sign, more))
	}
	return all
}

// says writes a rule in a few words.
func says(r access.Rule) string {
	effect, tools := "allow", "all"
	if r.Deny {
		effect = "deny"
	}
	switch {
	case r.ReadOnly:
		tools = "read-only"
	case len(r.Tools) > 0:
		if tools = strings.Join(r.Tools, ", "); len(tools) > 200 {
			tools = fmt.Sprintf("%d tools", len(r.Tools))
		}
	}
	return effect + " " + r.Subject + " (" + tools + ")"
}
