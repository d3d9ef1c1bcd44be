package page

import (
	"crypto/sha256"
	"encoding/base64"
	"html/template"
	"strings"
)

// policy is the Content-Security-Policy of a page: it may use the styles it carries, show
// images, and send its forms to us (see Look.Leaves); nothing else. A live or scripted one also runs scripts that are
// files of ours, and these make no markup of text.
func policy(s sheet) string {
	styles := styleDigest()
	if s.Paint != "" {
		styles += " " + digest(s.Paint)
	}
	images := "'self' data:"
	if strings.HasPrefix(s.Brand.LogoURL(), "https://") {
		images += " https:"
	}
	forms := "; form-action 'self'"
	if s.Leaves {
		forms = ""
	}
	live, types := "", ""
	if s.Live || s.Scripted {
		live, types = "; script-src 'self'", "; require-trusted-types-for 'script'; trusted-types 'none'"
	}
	if s.Live {
		live += "; connect-src 'self'"
	}
	return "default-src 'none'; style-src " + styles + live + "; img-src " + images +
		forms + "; frame-ancestors 'none'; base-uri 'none'" + types
}

func digest(style template.CSS) string {
	sum := sha256.Sum256([]byte(style))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}
