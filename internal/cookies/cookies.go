// Package cookies names every cookie that Keystile sets. One that does anything by itself (Session, Trusted)
// must be seen by nobody else, and none may be set by a service whose answers come from the same host.
package cookies

import "strings"

// The names. All but Session, which the protocol has given (4.8), begin as prefix says, so that Ours knows those
// of a later version too.
const (
	Session    = "open_sso_token"       // a person who has signed in
	Browser    = "keystile_browser"     // the browser in which a sign-in was begun
	Known      = "keystile_known"       // whoever has signed in with a browser before
	Trusted    = "keystile_trusted"     // whose second factor a browser spares
	Kept       = "keystile_kept_"       // begins those of a form that goes on after a sign-in, each with a name of its own
	Way        = "keystile_way"         // the way in that comes first
	Language   = "keystile_lang"        // the language of the console
	Begin      = "keystile_begin"       // a reader of the console has put the first steps away
	Demo       = "keystile_demo"        // a sign-in at the demo, on its way
	DemoResult = "keystile_demo_result" // and what came of it

	prefix = "keystile_"
)

// Ours reports whether a cookie is one of Keystile's, or may be taken for one. It is written as in Cookie
// (name=value), or as in Set-Cookie, with attributes behind it.
//
// A browser keeps "=name=value" as a cookie without a name, and sends it as name=value. It takes a name
// for another if the letters are of another size, and so do some servers with the prefixes of RFC 6265bis. So
// a name counts whatever stands before, within and around it that is no part of ours.
func Ours(pair string) bool {
	rest, _, _ := strings.Cut(pair, ";")
	name := ""
	for name == "" && rest != "" {
		name, rest, _ = strings.Cut(rest, "=")
		name = strings.Map(letters, name)
	}
	for _, p := range []string{"__host-http-", "__host-", "__http-", "__secure-"} {
		name = strings.TrimPrefix(name, p)
	}
	return name == Session || strings.HasPrefix(name, prefix)
}

// letters makes a letter small, and leaves out what none of our names, nor a prefix, has.
func letters(c rune) rune {
	switch {
	case 'A' <= c && c <= 'Z':
		return c + 'a' - 'A'
	case 'a' <= c && c <= 'z', '0' <= c && c <= '9', c == '_', c == '-':
		return c
	}
	return -1
}
