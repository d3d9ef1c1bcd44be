package passwords

import "github.com/keystile/keystile/internal/confusable"

// maxTyped bounds what is normalized, in bytes: a text of maxPassword in full width is three times as long.
const (
	maxPassword = 1024 // bytes, normalized
	maxTyped    = 4 * maxPassword
)

// Normal returns the form in which a password is hashed: NFKC (NIST SP 800-63B 5.1.1.2). Keyboards and input methods
// differ in how they write the same letter: as one character or two, in full width or not. A [Hasher] and [Check] do
// this themselves; it is for hosts that hash passwords in another way. A text that is too long for a password stays as
// it is.
func Normal(typed string) string {
	if len(typed) > maxTyped {
		return typed
	}
	return confusable.NFKC(typed)
}
