package users

import (
	"errors"
	"strings"
	"unicode"
)

var errEmail = errors.New("address: give an email address such as ada@example.com")

// NormalizeEmail returns what an email address is found by: without the space around it, in lower
// case, and otherwise as it was typed. Dots and what follows a plus are kept: only the
// provider knows whether they make another mailbox. It has a dot-atom before the @ (RFC 5321
// 4.1.2) and a name with a dot behind it, both ASCII; a domain beyond that is typed as
// xn--, the way it is in the DNS.
//
// An address that is
// confirmed may be typed with the password, in place of the username; a username that is the same text comes
// first.
func NormalizeEmail(text string) (string, error) {
	address := strings.TrimSpace(text)
	// the Kelvin sign, too, has a k for its lower case
	if strings.ContainsFunc(address, func(r rune) bool { return r > unicode.MaxASCII }) {
		return "", errEmail
	}
	address = strings.ToLower(address)
	local, domain, ok := strings.Cut(address, "@")
	if !ok || len(address) > 254 || len(local) > 64 || !dotAtom(local) || !hostName(domain) {
		return "", errEmail
	}
	return address, nil
}

const (
	letters = "abcdefghijklmnopqrstuvwxyz"
	digits  = "0123456789"
)

func dotAtom(text string) bool {
	for part := range strings.SplitSeq(text, ".") {
		if part == "" || strings.Trim(part, letters+digits+"!#$%&'*+-/=?^_`{|}~") != "" {
			return false
		}
	}
	return true
}

func hostName(text string) bool {
	labels := strings.Split(text, ".")
	for _, l := range labels {
		if l == "" || len(l) > 63 || strings.Trim(l, letters+digits+"-") != "" || l[0] == '-' || l[len(l)-1] == '-' {
			return false
		}
	}
	return len(labels) > 1 && strings.Trim(labels[len(labels)-1], digits) != "" // an address of four numbers is no domain
}
