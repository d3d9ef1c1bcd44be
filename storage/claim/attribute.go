package claim

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/keystile/keystile/storage/driver"
)

// Limits of the attributes of a user.
const (
	MaxAttributes = 32   // of one user
	MaxAttribute  = 1024 // bytes of one value
	maxKey        = 32   // bytes of a name
)

// AttributeForm says in words what IsAttribute takes.
const AttributeForm = "1 to 32 of a-z 0-9 _, the first a letter"

// IsAttribute reports whether an attribute of a user can have this name: see AttributeForm.
func IsAttribute(name string) bool {
	const letters = "abcdefghijklmnopqrstuvwxyz"
	return name != "" && len(name) <= maxKey && strings.IndexByte(letters, name[0]) >= 0 &&
		strings.Trim(name, letters+"0123456789_") == ""
}

// CheckAttributeNames returns the first thing that is wrong with a list of names of attributes.
func CheckAttributeNames(names []string) error {
	for i, name := range names {
		switch {
		case !IsAttribute(name):
			return fmt.Errorf("%q is no name of an attribute: it has %s", name, AttributeForm)
		case slices.Contains(names[:i], name):
			return fmt.Errorf("%q is there twice", name)
		}
	}
	return nil
}

// CheckAttributes returns the first thing that is wrong with the attributes of a user, as a driver.ErrInvalid.
func CheckAttributes(all map[string]string) error {
	if len(all) > MaxAttributes {
		return fmt.Errorf("%w: attributes: at most %d", driver.ErrInvalid, MaxAttributes)
	}
	for name, value := range all {
		switch {
		case !IsAttribute(name):
			return fmt.Errorf("%w: attributes: %q: a name is %s", driver.ErrInvalid, name, AttributeForm)
		case len(value) > MaxAttribute || !utf8.ValidString(value):
			return fmt.Errorf("%w: attributes: %s: a value is text of at most %d bytes", driver.ErrInvalid, name, MaxAttribute)
		}
	}
	return nil
}
