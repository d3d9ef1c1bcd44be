package consent

import (
	"slices"
	"strings"

	"github.com/keystile/keystile/internal/page"
	"github.com/keystile/keystile/internal/scope"
)

// Permission is one thing that an application wants, in words.
type Permission struct {
	text   string // in English; %s is what it is about
	about  string // the name of a capability or a bundle
	Strong bool   // it is more than applications usually want
}

// In says it in a language.
func (p Permission) In(l page.Lang) string {
	if p.about == "" {
		return l.T(p.text)
	}
	return l.T(p.text, p.about)
}

// What a scope lets an application learn and do, in words. The first is true of every
// grant: the token answer names the user (protocol 2.2).
const identityText = "Know that it is you when you come back, with your nickname, your picture and how you signed in"

var permissions = map[string]Permission{
	scope.Profile: {text: "See your name, username, gender and location"},
	scope.Email:   {text: "See your email address"},
	scope.Tools:   {text: "Use tools on your behalf: all that you may use here"},
	scope.Apps:    {text: "Manage your applications for one hour: see, change and delete them, and get new secrets for them", Strong: true},
}

const (
	toolsOfMember = "Use the tools of %s on your behalf"
	toolsOfBundle = "Use the tools of the bundle %s on your behalf"
)

// Permissions says a scope in words, in the order of the scope, and what weighs most at the end.
func Permissions(wanted string) []Permission {
	all := []Permission{{text: identityText}}
	for name := range strings.FieldsSeq(wanted) {
		if p, ok := permissions[name]; ok {
			all = append(all, p)
		} else if member, ok := scope.MemberOf(name); ok {
			all = append(all, Permission{text: toolsOfMember, about: member})
		} else if bundle, ok := scope.BundleOf(name); ok {
			all = append(all, Permission{text: toolsOfBundle, about: bundle})
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

// knownScopes is a scope without what the page has no words for: nobody has consented to that.
func knownScopes(wanted string) string {
	return strings.Join(slices.DeleteFunc(strings.Fields(wanted), func(name string) bool { return !scope.Grantable(name) }), " ")
}
