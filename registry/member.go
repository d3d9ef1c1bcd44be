package registry

import (
	"regexp"
	"slices"
	"strings"
)

// memberName matches the name of a capability. Clients see a tool as <member>__<name>, and the
// first __ separates the two.
var memberName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]{0,47}$`)

// reservedNames lists the path segments of this package's other endpoints.
var reservedNames = []string{"register", "preview"}

// checkMember returns what is wrong with the name of a capability.
func checkMember(name string) error {
	switch {
	case name == "":
		return badMember("member is missing: give the capability a name")
	case !memberName.MatchString(name), strings.Contains(name, "__"), strings.HasSuffix(name, "_"):
		return badMember("member is 1 to 48 of A-Z, a-z, 0-9, _ and -; it begins with a letter or digit, does not end in _ " +
			"and has no __")
	case slices.Contains(reservedNames, name):
		return badMember("member: this name has a meaning here; choose another")
	}
	return nil
}
