package consent

import (
	"slices"
	"strings"

	"github.com/keystile/keystile/internal/page"
	"github.com/keystile/keystile/internal/scope"
)

// Permission is one permission that an application requests.
type Permission struct {
	text   string   // in English; each %s is one of about
	about  []string // names of a capability, a bundle or a tool, or groups
	Strong bool     // it is more than applications usually request
}

// In returns its text in a language.
func (p Permission) In(l page.Lang) string {
	return l.T(p.text, p.about...)
}

// identityText is the permission of every grant: the token response names the user (protocol 2.2).
const identityText = "Know that it is you when you come back, with your nickname, your picture and how you signed in"

var permissions = map[string]Permission{
	scope.Profile:       {text: "See your name, username, gender and location"},
	scope.Email:         {text: "See your email address"},
	scope.Groups:        {text: "See which groups you are in"},
	scope.Tools:         {text: "Use tools on your behalf: all that you may use here"},
	scope.ReadOnlyTools: {text: "Use tools on your behalf: only those that change nothing"},
	scope.Apps: {text: "Manage your applications for one hour: see, change and delete them, and get new " +
		"secrets for them", Strong: true},
}

const (
	toolsOfMember = "Use the tools of %s on your behalf"
	toolsOfBundle = "Use the tools of the bundle %s on your behalf"
	toolOfMember  = "Use the tool %s of %s on your behalf"
)

// Permissions returns the permissions of a scope, in its order, with the strong ones at the end.
func Permissions(wanted string) []Permission {
	all := []Permission{{text: identityText}}
	for name := range strings.FieldsSeq(wanted) {
		if p, ok := permissions[name]; ok {
			all = append(all, p)
		} else if member, ok := scope.MemberOf(name); ok {
			all = append(all, Permission{text: toolsOfMember, about: []string{member}})
		} else if bundle, ok := scope.BundleOf(name); ok {
			all = append(all, Permission{text: toolsOfBundle, about: []string{bundle}})
		} else if member, tool, ok := scope.ToolOf(name); ok {
			all = append(all, Permission{text: toolOfMember, about: []string{tool, member}})
		}
	}
	slices.SortStableFunc(all, func(x, y Permission) int {
		switch {
		case x.Strong == y.Strong:
			return 0
		case x.Strong:
			return 1
		}
		return -1
	})
	return all
}

// knownScopes returns a scope without the names that the page has no text for.
func knownScopes(wanted string) string {
	return strings.Join(slices.DeleteFunc(strings.Fields(wanted),
		func(name string) bool { return !scope.Grantable(name) }), " ")
}
