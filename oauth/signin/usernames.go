package signin

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/keystile/keystile/internal/confusable"
)

// keys are what a username could be kept under: what users had who were made when only the
// case was compared, and the form that is compared now. There are none if nobody can have
// the name.
func keys(username string) (all []string) {
	if len(username) > maxTyped || !utf8.ValidString(username) {
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

// maxTyped bounds the text that a username is looked for by: in full width, and with space
// around it, it is longer than the name.
const maxTyped = 4 * confusable.MaxName

// checkUsername says what is wrong with a username that somebody wants to have.
func checkUsername(name string) error {
	if err := confusable.Check(name); err != nil {
		return fmt.Errorf("username: %w", err)
	}
	return nil
}

// unfitName says on a page, in English, why a username is refused.
func unfitName(err error) string {
	if errors.Is(err, confusable.ErrMixed) {
		return "This username mixes writing systems that can be mistaken for each other. Use the letters of one."
	}
	return "This username cannot be used. Choose one of 1 to 100 visible characters."
}

// looks returns what nobody else's username may look like if a new user has this one. The
// first time it writes down what those look like who are there already; that reads every
// user once, and goes on when whoever asked for it has gone.
func (s *StoreUsers) looks(ctx context.Context, username string) (looks [2]string, err error) {
	if !s.reserved.Load() {
		if err := s.store.ReserveSkeletons(context.WithoutCancel(ctx), "UTS 39, "+confusable.Version, confusable.Skeletons); err != nil {
			return looks, err
		}
		s.reserved.Store(true)
	}
	copy(looks[:], confusable.Skeletons(username)) // one or two
	return looks, nil
}
