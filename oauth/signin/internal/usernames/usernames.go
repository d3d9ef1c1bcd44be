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

// Keys returns what a username could be kept under: what users had who were made when only the
// case was compared, and the form that is compared now. There are none if nobody can have
// the name.
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

// MaxTyped bounds the text that a username is looked for by: in full width, and with space
// around it, it is longer than the name.
const MaxTyped = 4 * confusable.MaxName

// Check says what is wrong with a username that somebody wants to have.
func Check(name string) error {
	if err := confusable.Check(name); err != nil {
		return fmt.Errorf("username: %w", err)
	}
	return nil
}

// Explain says on a page, in English, why a username is refused.
func Explain(err error) string {
	if errors.Is(err, confusable.ErrMixed) {
		return "This username mixes writing systems that can be mistaken for each other. Use the letters of one."
	}
	return "This username cannot be used. Choose one of 1 to 100 visible characters."
}
