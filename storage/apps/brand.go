package apps

import (
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Brand describes how the pages of an application look in place of Keystile's own (protocol 8).
// Each tier may keep one; only white_label and enterprise show it, so that nothing has to be
// typed again when a tier begins or ends.
type Brand struct {
	Name  string `json:"name,omitempty"`  // instead of the application's
	Logo  string `json:"logo,omitempty"`  // an https address, or a path of this service
	Color string `json:"color,omitempty"` // #rrggbb; the text on it is made black or white
}

const (
	maxBrandName = 200
	maxBrandLogo = 2048
)

func (b Brand) check() error {
	var errs []error
	if len(b.Name) > maxBrandName || !utf8.ValidString(b.Name) {
		errs = append(errs, fmt.Errorf("brand name: at most %d bytes of text", maxBrandName))
	}
	if b.Logo != "" && !isLogo(b.Logo) {
		errs = append(errs, fmt.Errorf("brand logo: %q is neither an https address nor a path that begins with one /",
			b.Logo))
	}
	if b.Color != "" && !isColor(b.Color) {
		errs = append(errs, fmt.Errorf("brand color: %q is not of the form #rrggbb", b.Color))
	}
	return errors.Join(errs...)
}

// isLogo accepts addresses that every browser reads alike: no other host behind a path, no
// userinfo, nothing that a browser would drop or turn into a slash.
func isLogo(text string) bool {
	odd := func(r rune) bool { return r <= ' ' || r > '~' || strings.ContainsRune("\\\"'<>`", r) }
	u, err := url.Parse(text)
	if err != nil || len(text) > maxBrandLogo || strings.ContainsFunc(text, odd) {
		return false
	}
	path := strings.HasPrefix(text, "/") && !strings.HasPrefix(text, "//")
	return path || strings.HasPrefix(text, "https://") && u.Hostname() != "" && u.User == nil
}

func isColor(text string) bool {
	if len(text) != 7 || text[0] != '#' {
		return false
	}
	_, err := strconv.ParseUint(text[1:], 16, 32)
	return err == nil
}
