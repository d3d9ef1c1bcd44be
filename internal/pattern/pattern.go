// Package pattern compiles regular expressions when they are first used: the program has some fifty, and a command that
// ends soon needs none of them.
package pattern

import (
	"regexp"
	"sync"
)

// Lazy returns a function that returns an expression, compiled at its first call. It panics there if the expression is
// wrong, so whatever has one has a test that uses it.
func Lazy(expression string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expression) })
}
