package access

import "strings"

// GroupNameForm says in words what IsGroupName takes.
const GroupNameForm = "1 to 63 of a-z 0-9 . _ -, the first a letter or digit"

const maxGroupName = 63 // bytes

// OwningGroup returns the name of the group that an owner is, as records name their owners: group:NAME is a group, and
// every other text a user (a sub).
func OwningGroup(owner string) (name string, is bool) {
	return strings.CutPrefix(owner, SubjectGroup+":")
}

// IsGroupName reports whether a group of users can have this name: see GroupNameForm.
func IsGroupName(text string) bool {
	const first = "abcdefghijklmnopqrstuvwxyz0123456789"
	return text != "" && len(text) <= maxGroupName && strings.IndexByte(first, text[0]) >= 0 &&
		strings.Trim(text, first+"._-") == ""
}
