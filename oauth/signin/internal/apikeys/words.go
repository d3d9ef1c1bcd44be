package apikeys

import (
	"strings"

	"github.com/keystile/keystile/internal/page"
	"github.com/keystile/keystile/internal/scope"
)

// permission is one thing that a key opens.
type permission struct {
	text  string // in English; %s is about
	about string
}

// In returns it in a language.
func (p permission) In(l page.Lang) string {
	if p.about == "" {
		return l.T(p.text)
	}
	return l.T(p.text, p.about)
}

func permissions(text string) (all []permission) {
	for name := range strings.FieldsSeq(text) {
		if p, ok := wordsOf(name); ok {
			all = append(all, p)
		}
	}
	return all
}

func wordsOf(name string) (permission, bool) {
	switch name {
	case scope.Tools:
		return permission{text: "All tools that you may use"}, true
	case scope.ReadOnlyTools:
		return permission{text: "Tools that read and change nothing"}, true
	case scope.Profile:
		return permission{text: "Your name, username, gender and location"}, true
	case scope.Email:
		return permission{text: "Your email address"}, true
	}
	if bundle, ok := scope.BundleOf(name); ok {
		return permission{"The tools of the bundle %s", bundle}, true
	}
	if member, ok := scope.MemberOf(name); ok {
		return permission{"The tools of %s", member}, true
	}
	if _, _, ok := scope.ToolOf(name); ok {
		return permission{"The tool %s", strings.TrimPrefix(name, scope.Member(""))}, true
	}
	return permission{}, false // openid opens nothing by itself
}
