// Package toolaccess decides who may use a tool (decision 54): the meaning of
// an access list, in one place, explained rule by rule. The bus decides the same from an index,
// and its tests hold it against this package.
//
// # Choices
//
// A rule that denies wins over every rule that allows, and holds for owners and
// administrators as for everybody else: an operator can take a dangerous tool away from
// all, and gives it back by taking the rule away, for which nobody needs the tool.
//
// A list without any rule that allows keeps what holds without a list, but for what it
// denies: to deny one is not to deny all others.
//
// A token of a user is the user, of a role, by an application of a tier. A token of an
// application itself is that application and nobody else, so that what its owner may use is
// not its own to use; but what is denied to its owner, or to a group of theirs, is denied to it: whoever can make an
// application could go around every such rule.
//
// A rule that allows a group means the group that had its name when the list was last written: one that was made later
// is another one. A rule that denies means any group of the name.
package toolaccess

import (
	"slices"
	"time"

	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/access"
	"github.com/keystile/keystile/storage/toolplan"
)

// A Who holds the subjects that a token represents.
type Who struct {
	User string // sub; "" for an application acting for itself
	Role string // of the user; "" for an application
	App  string // client_id
	Tier string // of the application

	Owner string // sub or group:NAME, of an application acting for itself; read by what denies alone

	Groups      []access.Group // that the user is a member of
	OwnerGroups []access.Group // that Owner is a member of; read by what denies alone

	Manages []string // the groups, by name, whose capabilities are the user's own
}

// DeniedAs is one more subject that rules which deny are about; its Kind is "" if there is
// none.
func (w Who) DeniedAs() access.Subject {
	if w.Owner == "" {
		return access.Subject{}
	}
	if name, is := access.OwningGroup(w.Owner); is {
		return access.Subject{Kind: access.SubjectGroup, Name: name}
	}
	return access.Subject{Kind: access.SubjectUser, Name: w.Owner}
}

// Subjects are the subjects that Who is; those with a Kind of "" are none.
func (w Who) Subjects() [5]access.Subject {
	all := [5]access.Subject{{Kind: access.SubjectEveryone}}
	for i, s := range [4]access.Subject{{Kind: access.SubjectRole, Name: w.Role}, {Kind: access.SubjectUser, Name: w.User},
		{Kind: access.SubjectApp, Name: w.App}, {Kind: access.SubjectTier, Name: w.Tier}} {
		if s.Name != "" {
			all[i+1] = s
		}
	}
	return all
}

// matches reports whether a rule of a list that was written at a time is about Who.
func (w Who) matches(r access.Rule, written time.Time) bool {
	s, err := access.ParseSubject(r.Subject)
	if err != nil {
		return false
	}
	for _, mine := range w.Subjects() {
		if mine == s {
			return true
		}
	}
	if r.Deny && w.Owner != "" && s == w.DeniedAs() {
		return true
	}
	named := func(g access.Group) bool { return s == g.Subject() && (r.Deny || g.KnownTo(written)) }
	return slices.ContainsFunc(w.Groups, named) || r.Deny && slices.ContainsFunc(w.OwnerGroups, named)
}

// Standing returns whether Who may use a capability without any rule, and why.
func (w Who) Standing(c storage.Capability) (allowed bool, because string) {
	group, is := access.OwningGroup(c.Owner)
	switch {
	case is && slices.Contains(w.Manages, group):
		return true, "a manager of the group that owns it"
	case !is && w.User != "" && w.User == c.Owner:
		return true, "the owner"
	case w.Role == storage.RoleAdmin:
		return true, "an administrator"
	}
	return false, ""
}

// Allows reports whether a list has a rule that allows something to somebody.
func Allows(rules []access.Rule) bool {
	for _, r := range rules {
		if !r.Deny {
			return true
		}
	}
	return false
}

// Covers reports whether a rule is about a tool.
func Covers(r access.Rule, t toolplan.Tool) bool {
	switch {
	case r.ReadOnly:
		return t.ChangesNothing()
	case len(r.Tools) == 0:
		return true
	}
	for _, name := range r.Tools {
		if name == t.Name {
			return true
		}
	}
	return false
}

// Decision is whether somebody may use a tool, and what decided it.
type Decision struct {
	Allowed bool
	Rule    *access.Rule // nil: no rule did
	Because string       // where no rule did
}

// Decide says whether Who may use a tool of a capability with this list. open: everybody
// may use what has no list.
func Decide(l access.List, open bool, w Who, c storage.Capability, t toolplan.Tool) Decision {
	rules := l.Rules
	standing, why := w.Standing(c)
	d := Decision{Allowed: standing, Because: why}
	switch {
	case d.Allowed:
	case Allows(rules):
		d.Because = "no rule allows it"
	case open:
		d = Decision{Allowed: true, Because: "the default: everyone"}
	default:
		d.Because = "the default: the owner and administrators"
	}
	for i := range rules {
		r := &rules[i]
		if !Covers(*r, t) || !w.matches(*r, l.UpdatedAt) {
			continue
		}
		if r.Deny {
			return Decision{Rule: r}
		}
		if !d.Allowed {
			d = Decision{Allowed: true, Rule: r}
		}
	}
	return d
}
