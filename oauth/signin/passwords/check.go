package passwords

import (
	_ "embed"
	"errors"
	"strings"
	"unicode/utf8"
)

// commonText holds the 10,000 commonest passwords that are long enough, one on a line, in
// lower case; common.LICENSE says where they are from.
//
//go:embed common.txt
var commonText string

var (
	errShort  = errors.New("password: give at least 8 characters")
	errLong   = errors.New("password: give at most 1024 bytes of text")
	errCommon = errors.New("password: this one is among the first that are guessed; choose another one")
	errKnown  = errors.New("password: a username or an address is no password; choose another one")
)

// Explain returns the text of a refused password for a page, in English.
func Explain(err error) string {
	switch {
	case errors.Is(err, errShort):
		return "The new password is too short. Choose one of at least 8 characters."
	case errors.Is(err, errLong):
		return "The new password is too long. Choose one of at most 1,024 characters."
	case errors.Is(err, errCommon):
		return "The new password is among the first that are guessed. Choose another one."
	case errors.Is(err, errKnown):
		return "A username or an email address is no password. Choose another one."
	}
	return "This password cannot be used. Choose another one."
}

// Check returns the error of a new password. In the form that is hashed (see Normal), it must have at least 8
// characters and at most 1,024 bytes of UTF-8, and must be neither one of the 10,000 commonest (in whatever case) nor
// one of the known texts about its owner, such as username and address. It is never truncated.
func Check(password string, known ...string) error {
	password = Normal(password)
	lower := strings.ToLower(password)
	switch {
	case utf8.RuneCountInString(password) < 8:
		return errShort
	case len(password) > maxPassword || !utf8.ValidString(password):
		return errLong
	case strings.HasPrefix(commonText, lower+"\n"), strings.Contains(commonText, "\n"+lower+"\n"):
		return errCommon
	}
	for _, k := range known {
		k = Normal(k)
		name, _, _ := strings.Cut(k, "@")
		if k != "" && (strings.EqualFold(password, k) || strings.EqualFold(password, name)) {
			return errKnown
		}
	}
	return nil
}
