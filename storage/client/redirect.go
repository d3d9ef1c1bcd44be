package client

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/keystile/keystile/storage/internal/redirect"
)

// CheckRedirect checks a redirect_uri of an application that nobody registered (protocol
// decision 55): https, http of a loopback host, or a private-use scheme (RFC 8252 7), which a
// browser hands to the program on the device that claims it.
func CheckRedirect(raw string) error {
	if _, ok := PrivateScheme(raw); ok {
		return redirect.CheckCharacters(raw)
	}
	if scheme, _, found := strings.Cut(raw, ":"); found && !strings.HasPrefix(raw[len(scheme):], "://") {
		return fmt.Errorf("the scheme %.20q is not one that a browser may be sent to", scheme)
	}
	scheme, host, port, err := redirect.Split(raw)
	switch {
	case err != nil:
		return err
	case scheme == "http" && !redirect.IsLoopback(host):
		return errors.New("http is allowed for loopback hosts only; use https")
	}
	if u, err := url.Parse(raw); err != nil || !strings.EqualFold(u.Host, redirect.JoinPort(host, port)) ||
		u.User != nil || u.Opaque != "" {
		return errors.New("it can be read in more than one way")
	}
	return nil
}

// AllowsRedirect matches a redirect_uri with those of the application: exactly, but for the port of
// a loopback host, which the operating system gives (RFC 8252 7.3).
func (c *Description) AllowsRedirect(raw string) error {
	if err := CheckRedirect(raw); err != nil {
		return err
	}
	if slices.Contains(c.RedirectURIs, raw) {
		return nil
	}
	if anyPort, ok := withoutLoopbackPort(raw); ok {
		for _, own := range c.RedirectURIs {
			if own, ok := withoutLoopbackPort(own); ok && own == anyPort {
				return nil
			}
		}
	}
	return errors.New("it is not one of the redirect_uris that the application has brought")
}

// withoutLoopbackPort returns a redirect_uri that has passed CheckRedirect without its port;
// false if its host is no loopback one.
func withoutLoopbackPort(raw string) (string, bool) {
	if _, private := PrivateScheme(raw); private {
		return "", false
	}
	scheme, host, port, err := redirect.Split(raw)
	if err != nil || scheme != "http" || !redirect.IsLoopback(host) {
		return "", false
	}
	return scheme + "://" + host + raw[len(scheme+"://")+len(redirect.JoinPort(host, port)):], true
}

// IsLoopback reports whether a redirect_uri leads to a program on the user's own device, by
// a loopback host or a private-use scheme. Any program there can pass for the one that asks.
func IsLoopback(raw string) bool {
	_, private := PrivateScheme(raw)
	_, loopback := withoutLoopbackPort(raw)
	return private || loopback
}

// agentSchemes are the private-use schemes without a dot that well-known agents are sent back by. Each is claimed by
// one program that waits for a code there.
var agentSchemes = []string{"claude", "cursor", "kiro", "raycast", "vscode", "vscode-insiders", "vscodium", "warp",
	"windsurf", "zed"}

// PrivateScheme returns the private-use scheme of a redirect_uri, in lower case: that of an agent that is
// known, or a domain name in reverse, which has a dot (RFC 8252 7.1). Operating systems hand other schemes to
// programs that take orders from them, and no list of those is ever complete.
func PrivateScheme(raw string) (scheme string, ok bool) {
	scheme, rest, found := strings.Cut(raw, ":")
	if !found || len(scheme) > maxScheme || len(raw) > redirect.MaxLength || !strings.HasPrefix(rest, "/") ||
		strings.HasPrefix(rest, "///") {
		return "", false
	}
	if !slices.Contains(agentSchemes, scheme) && !isReverseDomain(scheme) {
		return "", false // upper case too: it is matched as it is written
	}
	return scheme, true
}

const maxScheme = 64

// isReverseDomain reports whether a scheme is a domain name in reverse: labels in lower case, of which the
// first is a top-level domain. A scheme such as x-apple.systempreferences, which is none, has a dot too.
func isReverseDomain(scheme string) bool {
	labels := strings.Split(scheme, ".")
	for i, label := range labels {
		if label == "" || strings.Trim(label, "-") != label {
			return false
		}
		for _, c := range []byte(label) {
			letter, other := 'a' <= c && c <= 'z', '0' <= c && c <= '9' || c == '-'
			if !letter && (i == 0 || !other) {
				return false
			}
		}
	}
	return len(labels) > 1 && len(labels[0]) > 1
}
