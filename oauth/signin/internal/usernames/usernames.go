package usernames

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/keystile/keystile/internal/confusable"
)

// Keys returns the subjects that a username can be stored under: the one of older users, for whom
// only the case was folded, and the current one. There are none if the name is not valid.
func Keys(username string) (all []string) {
	if len(username) > MaxTyped || !utf8.ValidString(username) {
		return nil
	}
	for _, key := range []string{strings.ToLower(strings.TrimSpace(username)), confusable.Key(username)} {
		hidden := strings.ContainsFunc(key, func(r rune) bool { return !unicode.IsPrint(r) })
		if key != "" && len(key) <= confusable.MaxName && !hidden && !slices.Contains(all, key) {
			all = append(all, key)
		}
	}
	return all
}

// MaxTyped bounds a typed username in bytes: in full width, and with space around it, it is longer
// than the name.
const MaxTyped = 4 * confusable.MaxName

// Check returns the error of a new username.
func Check(name string) error {
	if err := confusable.Check(name); err != nil {
		return fmt.Errorf("username: %w", err)
	}
	return nil
}

// Explain returns the text of a refused username for a page, in English.
func Explain(err error) string {
	if errors.Is(err, confusable.ErrMixed) {
		return "This username mixes writing systems that can be mistaken for each other. Use the letters of one."
	}
	return "This username cannot be used. Choose one of 1 to 100 visible characters."
}
