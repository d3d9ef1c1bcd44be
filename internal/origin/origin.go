// Package origin checks the origins that a configuration names (RFC 6454, section 6.2).
package origin

import (
	"fmt"
	"net/url"
	"strings"
)

// Check returns what is wrong with an origin that a setting names, and how to write it; nil if
// it is one. An origin is http or https, a host in lower case and perhaps a port: no path, no
// final slash, no user, query or fragment.
func Check(setting, text string) error {
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Host == "" || u.Hostname() == "" || u.Scheme != "https" && u.Scheme != "http" ||
		strings.ContainsAny(u.Host, "*\\ "):
		return fmt.Errorf("%s: %q is not an origin such as https://id.example.com", setting, text)
	case text != u.Scheme+"://"+strings.ToLower(u.Host):
		return fmt.Errorf("%s: %q is not an origin: write %s://%s, in lower case, without a path or a final slash", setting,
			text, u.Scheme, strings.ToLower(u.Host))
	}
	return nil
}

// CheckPage is Check for an origin that is compared with what browsers say of a page. They
// leave out the default port and write a name of other letters in its ASCII form (RFC 5890), so
// that any other spelling would match nothing.
func CheckPage(setting, text string) error {
	if err := Check(setting, text); err != nil {
		return err
	}
	port := ":443"
	if strings.HasPrefix(text, "http:") {
		port = ":80"
	}
	if short, found := strings.CutSuffix(text, port); found {
		return fmt.Errorf("%s: %q has the default port, which browsers leave out: write %s", setting, text, short)
	}
	if strings.ContainsFunc(text, func(c rune) bool { return c > '~' }) {
		return fmt.Errorf("%s: %q is not in ASCII: write the name as it begins with xn--, which is what browsers send",
			setting, text)
	}
	return nil
}
