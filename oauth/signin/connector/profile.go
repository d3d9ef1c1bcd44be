package connector

import (
	"cmp"
	"net/url"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Limits of the texts of a profile, in bytes.
const (
	maxText    = 200
	maxAddress = 2048
	maxID      = 256
)

// identity holds the ids of a user in an answer. Either may be missing.
//
// An account is found by any of a profile's subjects. A provider gives an identity of its own to each
// application and, if it likes, one that an operator's applications share. The shared one may appear years
// later, so the other is always named too.
type identity struct{ union, open string }

// merge joins the identities of two answers; ok is false if they are of different users.
func (a identity) merge(b identity) (both identity, ok bool) {
	if a.union != "" && b.union != "" && a.union != b.union || a.open != "" && b.open != "" && a.open != b.open {
		return identity{}, false
	}
	return identity{union: cmp.Or(a.union, b.union), open: cmp.Or(a.open, b.open)}, true
}

// subjects returns the subjects by which an account is found; none if there is no identity, or a
// malformed one. A malformed one must not be left out: the account would fork.
func (a identity) subjects(appID string) []string {
	var out []string
	if a.union != "" {
		out = append(out, "u:"+a.union)
	}
	if a.open != "" {
		out = append(out, "o:"+appID+":"+a.open)
	}
	if !isID(a.union) || !isID(a.open) {
		return nil
	}
	return out
}

func isID(s string) bool {
	return len(s) <= maxID && !strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r >= 0x7f })
}

// oneLine makes one line of untrusted text: no control or bidi characters, at most maxText bytes.
func oneLine(s string) string {
	s = strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Cc, r) || unicode.In(r, unicode.Bidi_Control, unicode.Zl, unicode.Zp) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, ""))
	s = strings.TrimSpace(s)
	if len(s) > maxText {
		end := maxText
		for !utf8.RuneStart(s[end]) {
			end--
		}
		s = strings.TrimSpace(s[:end])
	}
	return s
}

// location joins country, province and city; missing and repeated ones are left out.
func location(parts ...string) string {
	for i, p := range parts {
		parts[i] = oneLine(p)
	}
	parts = slices.DeleteFunc(slices.Compact(parts), func(p string) bool { return p == "" })
	return oneLine(strings.Join(parts, " "))
}

// pictureURL returns the first address that a browser may load, as it was given.
func pictureURL(addresses ...string) string {
	for _, a := range addresses {
		if a = strings.TrimSpace(a); loadable(a) {
			return a
		}
	}
	return ""
}

func loadable(address string) bool {
	if len(address) > maxAddress || strings.ContainsFunc(address,
		func(r rune) bool { return r <= ' ' || r == 0x7f || r == utf8.RuneError }) {
		return false
	}
	u, err := url.Parse(address)
	return err == nil && (u.Scheme == "https" || u.Scheme == "http") && u.Host != "" && u.User == nil
}

// gender reads a gender by the provider's two words for it. An unknown
// gender is "". qq sends male where it knows nothing, and that cannot be distinguished.
func gender(word, male, female string) string {
	switch word {
	case male:
		return "male"
	case female:
		return "female"
	}
	return ""
}
