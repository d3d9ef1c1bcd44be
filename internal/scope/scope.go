// Package scope names the scopes of access tokens and reads the space-separated text that
// they stand in (RFC 6749 3.3).
//
// The scopes of OpenID Connect say what an application learns about a person. The others
// say what a token may do; each handler looks for its own.
package scope

import (
	"slices"
	"strings"
)

// Scopes.
const (
	OpenID  = "openid"
	Profile = "profile"
	Email   = "email"
	Groups  = "groups" // the names of the groups that the user is in

	App   = "app"   // an application acts for itself; of client_credentials alone
	Apps  = "apps"  // manages the applications of the user; see Elevated
	Tools = "tools" // uses every tool of the bus that its subject may use

	ReadOnlyTools = "tools/read" // of these, those that change nothing
)

const (
	memberPrefix = Tools + ":"         // tools:shop
	bundlePrefix = memberPrefix + "b:" // tools:b:support
)

// Member is the scope that opens the tools of one capability, and no others.
func Member(member string) string { return memberPrefix + member }

// Bundle is the scope that opens the tools of one bundle, and no others.
func Bundle(name string) string { return bundlePrefix + name }

// Tool is the scope that opens one tool of a capability, by its name there.
func Tool(member, tool string) string { return memberPrefix + member + "/" + tool }

// Has reports whether a space-separated scope contains a name.
func Has(scope, name string) bool {
	for s := range strings.FieldsSeq(scope) {
		if s == name {
			return true
		}
	}
	return false
}

// MemberOf returns the capability whose tools a scope opens; false if it is not of that form.
func MemberOf(name string) (string, bool) {
	member, ok := strings.CutPrefix(name, memberPrefix)
	return member, ok && isName(member)
}

// BundleOf returns the bundle whose tools a scope opens; false if it is not of that form.
func BundleOf(name string) (string, bool) {
	bundle, ok := strings.CutPrefix(name, bundlePrefix)
	return bundle, ok && isName(bundle)
}

// ToolOf returns the capability and the tool that a scope opens; false if it is not of that form.
func ToolOf(name string) (member, tool string, ok bool) {
	text, ok := strings.CutPrefix(name, memberPrefix)
	member, tool, slash := strings.Cut(text, "/")
	return member, tool, ok && slash && isName(member) && isToolName(tool)
}

// IsTools reports whether a scope opens tools of the bus: all, some or one.
func IsTools(name string) bool {
	_, member := MemberOf(name)
	_, bundle := BundleOf(name)
	_, _, tool := ToolOf(name)
	return name == Tools || name == ReadOnlyTools || member || bundle || tool
}

// HasTools reports whether any name in a space-separated scope opens tools.
func HasTools(scope string) bool { return slices.ContainsFunc(strings.Fields(scope), IsTools) }

// Within reports whether a space-separated scope asks for no more than a granted one. A grant of every
// tool includes those of one capability or bundle, and a grant of a capability includes each of its
// tools.
func Within(granted, asked string) bool {
	for name := range strings.FieldsSeq(asked) {
		if !within(granted, name) {
			return false
		}
	}
	return true
}

func within(granted, name string) bool {
	if Has(granted, name) || IsTools(name) && Has(granted, Tools) {
		return true
	}
	member, _, tool := ToolOf(name)
	return tool && Has(granted, Member(member))
}

// Narrowed returns what a grant holds where a user was asked for some scope and allowed less: of each
// wanted name itself, if it was allowed, and otherwise what was allowed in its place. It returns false
// if the user has to be asked: about a name that they have not been asked for, about one that they were
// asked for only as a part of something else, such as all tools, and allowed nothing of, or because
// nothing that opens tools is left where tools are wanted.
func Narrowed(wanted, asked, allowed string) (granted string, ok bool) {
	var out []string
	for name := range strings.FieldsSeq(wanted) {
		switch {
		case within(allowed, name):
			out = append(out, name)
		case !IsTools(name) || !Within(asked, name):
			return "", false
		default:
			some := Has(asked, name)
			for less := range strings.FieldsSeq(allowed) {
				if IsTools(less) && within(name, less) {
					some = true
					if !slices.Contains(out, less) {
						out = append(out, less)
					}
				}
			}
			if !some {
				return "", false
			}
		}
	}
	granted = strings.Join(out, " ")
	return granted, HasTools(granted) || !HasTools(wanted)
}

// Elevated reports whether a scope is one that is never granted silently or for long: the
// user is asked each time, after a sign-in that is at most ten minutes old, and no refresh
// renews it.
func Elevated(name string) bool { return name == Apps }

// HasElevated reports whether any name in a space-separated scope is Elevated.
func HasElevated(scope string) bool {
	for name := range strings.FieldsSeq(scope) {
		if Elevated(name) {
			return true
		}
	}
	return false
}

// OnlyElevated returns what is Elevated of a space-separated scope.
func OnlyElevated(scope string) string {
	return strings.Join(slices.DeleteFunc(strings.Fields(scope), func(s string) bool { return !Elevated(s) }), " ")
}

// WithoutElevated returns a space-separated scope without what is Elevated.
func WithoutElevated(scope string) string {
	return strings.Join(slices.DeleteFunc(strings.Fields(scope), Elevated), " ")
}

// Grantable reports whether a user can grant a scope to an application. Of a capability or
// a bundle only the form is checked: one that does not exist opens nothing.
func Grantable(name string) bool {
	switch name {
	case OpenID, Profile, Email, Groups, Apps:
		return true
	}
	return IsTools(name)
}

// OfKeys reports whether an API key can hold a scope: tools, and the identity of its user. No key
// manages applications, or acts for one.
func OfKeys(name string) bool {
	return IsTools(name) || name == OpenID || name == Profile || name == Email
}

// maxName is the length of the longest name of a capability or a bundle.
const maxName = 48

// maxTool is the length of the longest name of a tool in its capability.
const maxTool = 128

func isToolName(text string) bool { return isNameOf(text, maxTool) }

func isName(text string) bool { return isNameOf(text, maxName) }

func isNameOf(text string, most int) bool {
	if text == "" || len(text) > most {
		return false
	}
	for i := range len(text) {
		switch c := text[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '_', c == '-':
		default:
			return false
		}
	}
	return true
}
