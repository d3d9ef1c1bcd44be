package page

import (
	"crypto/sha256"
	"encoding/base64"
	"html/template"
	"net/netip"
	"net/url"
	"strings"

	"github.com/keystile/keystile/storage/client"
)

// policy is the Content-Security-Policy of a page: it may use the styles it carries, show
// images, and send its forms to us; nothing else. A live or scripted one also runs scripts that are
// files of ours, and these make no markup of text.
func policy(s sheet) string {
	styles := styleDigest
	if s.Paint != "" {
		styles += " " + digest(s.Paint)
	}
	images := "'self' data:"
	if strings.HasPrefix(s.Brand.LogoURL(), "https://") {
		images += " https:"
	}
	actions := "'self'"
	for _, origin := range s.FormActions {
		if a := source(origin); a != "" {
			actions += " " + a
		}
	}
	live, types := "", ""
	if s.Live || s.Scripted {
		live, types = "; script-src 'self'", "; require-trusted-types-for 'script'; trusted-types 'none'"
	}
	if s.Live {
		live += "; connect-src 'self'"
	}
	return "default-src 'none'; style-src " + styles + live + "; img-src " + images +
		"; form-action " + actions + "; frame-ancestors 'none'; base-uri 'none'" + types
}

func digest(style template.CSS) string {
	sum := sha256.Sum256([]byte(style))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

// source writes an origin as CSP can. CSP has no IPv6 addresses, and of IPv4 only
// 127.0.0.1, so such an origin is admitted by its scheme: the redirect itself has been
// checked elsewhere. What could end the directive is dropped.
func source(origin string) string {
	if _, private := client.PrivateScheme(origin + "/"); private || origin == "https:" {
		return origin
	}
	u, err := url.Parse(origin)
	if err != nil || strings.ContainsAny(origin, " \t;,'\"*") {
		return ""
	}
	if u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
		return ""
	}
	if addr, err := netip.ParseAddr(u.Hostname()); err == nil && addr.String() != "127.0.0.1" {
		return u.Scheme + ":"
	}
	return u.Scheme + "://" + u.Host
}
