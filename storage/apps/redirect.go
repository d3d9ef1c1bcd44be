package apps

import (
	"cmp"
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/net/idna"

	"github.com/keystile/keystile/storage/client"
	"github.com/keystile/keystile/storage/internal/redirect"
)

// AllowsRedirect checks a redirect_uri (protocol 4.1, 5). Its host must equal one of the
// application's Domains: no suffixes, no wildcards. An entry without a port admits any
// port, one with a port only that, also where the redirect_uri leaves it out as the scheme's
// own (RFC 3986 6.2.3). The scheme is https; http passes for a registered
// loopback host, or where AllowHTTPRedirect is set. If RedirectURIs are listed, only
// exactly those pass. A public application may list some of a private-use scheme too, by the
// rule for agents ([client.PrivateScheme]): the program on a device that has claimed it.
//
// The grammar is our own and narrower than RFC 3986, because browsers, proxies and URL
// libraries read the rest in different ways. A redirect_uri that passes is read the same way by net/url.
//
// Of an application that nobody registered (see Client) exactly its own pass, and those of loopback
// with any port.
func (a App) AllowsRedirect(raw string) error {
	if a.Client != nil {
		return a.Client.AllowsRedirect(raw)
	}
	if _, private := client.PrivateScheme(raw); private {
		return a.allowsPrivate(raw)
	}
	scheme, host, port, err := redirect.Split(raw)
	if errors.Is(err, redirect.ErrScheme) && a.Public {
		return errors.New("it must begin with https://, or with a private-use scheme that is a domain name in reverse: " +
			"com.example.app:/callback")
	}
	if err != nil {
		return err
	}
	registered := slices.Contains(a.Domains, host) ||
		slices.Contains(a.Domains, host+":"+cmp.Or(port, defaultPorts[scheme]))
	switch {
	case !registered:
		return fmt.Errorf("host %q is not among the application's domains", redirect.JoinPort(host, port))
	case scheme == "http" && !redirect.IsLoopback(host) && !a.AllowHTTPRedirect:
		return errors.New("http is allowed for loopback hosts only; use https")
	case len(a.RedirectURIs) > 0 && !slices.Contains(a.RedirectURIs, raw):
		return errors.New("it is not one of the application's registered redirect_uris")
	}
	if u, err := url.Parse(raw); err != nil || !strings.EqualFold(u.Host, redirect.JoinPort(host, port)) ||
		u.User != nil || u.Opaque != "" {
		return errors.New("it can be read in more than one way")
	}
	return nil
}

var defaultPorts = map[string]string{"https": "443", "http": "80"}

// allowsPrivate checks a redirect_uri of a private-use scheme (RFC 8252 7.1). Any program on the device can claim the
// scheme, so only an application that proves itself by PKCE is sent a code there.
func (a App) allowsPrivate(raw string) error {
	switch {
	case !a.Public:
		return errors.New("a private-use scheme is for public applications, which hold no secret: register this one with " +
			"https")
	case !slices.Contains(a.RedirectURIs, raw):
		return errors.New("it is not one of the application's registered redirect_uris, of which a private-use scheme has " +
			"to be exactly one")
	}
	return client.CheckRedirect(raw)
}

// RedirectOrigin returns scheme://host[:port] of a redirect_uri that AllowsRedirect has passed; of a
// private-use scheme, the scheme and a colon.
func RedirectOrigin(raw string) string {
	if scheme, ok := client.PrivateScheme(raw); ok {
		return scheme + ":"
	}
	scheme, host, port, err := redirect.Split(raw)
	if err != nil {
		return ""
	}
	return scheme + "://" + redirect.JoinPort(host, port)
}

// NormalizeDomain turns user input into an entry of Domains: a URL becomes host[:port], without the
// port that is its scheme's own; letters become lower-case, and names in other alphabets become what browsers write for
// them (xn--, RFC 5890). It refuses wildcards and hosts that are not in one plain form.
func NormalizeDomain(typed string) (string, error) {
	entry := strings.ToLower(strings.TrimSpace(typed))
	for scheme, port := range defaultPorts {
		if rest, ok := strings.CutPrefix(entry, scheme+"://"); ok {
			entry, _, _ = strings.Cut(rest, "/")
			entry = strings.TrimSuffix(entry, ":"+port)
			break
		}
	}
	if ascii, err := toASCII(entry); err == nil {
		entry = ascii
	}
	if strings.Contains(entry, "*") {
		return "", fmt.Errorf("domain %q: wildcards are not supported; list each host", typed)
	}
	if addr, err := netip.ParseAddr(entry); err == nil && addr.Is6() && addr.Zone() == "" {
		entry = "[" + addr.String() + "]"
	}
	host, port, err := redirect.SplitAuthority(entry)
	if err != nil {
		return "", fmt.Errorf("domain %q: %w; give a host such as app.example.com, or host:port", typed, err)
	}
	return redirect.JoinPort(host, port), nil
}

// toASCII returns host[:port] as browsers write it.
func toASCII(entry string) (string, error) {
	if !strings.ContainsFunc(entry, func(c rune) bool { return c > unicode.MaxASCII }) {
		return entry, nil
	}
	host, port, _ := strings.Cut(entry, ":")
	host, err := idna.Lookup.ToASCII(host)
	return redirect.JoinPort(host, port), err
}
