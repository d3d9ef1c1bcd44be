package restcall

import (
	"fmt"
	"iter"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"github.com/keystile/keystile/internal/netguard"
)

// oversize says of an answer that is too large how much there is and what to do next. If the
// upstream names a place where it can be had, that is the result; else it is an error: the
// model has not got what it asked for, and has to ask for less.
//
// Nothing of the answer itself is shown, because a cut text may look whole. A place is a Content-Location, a
// Location, or a Link that is self, canonical, alternate or enclosure; it becomes a resource_link in a result
// that is no error, because the next step is to fetch it. Only an absolute URL is passed on that names neither
// the upstream's own host, nor its credential, nor an address or a name inside a network. The result says that
// a call which may have changed something was made, or a model would make it again.
func (c *Caller) oversize(result *Result, resp *http.Response, r *Request, media string) {
	size := fmt.Sprintf("more than %d bytes, and no more is passed on", c.maxResponse)
	known := max(resp.ContentLength, 0)
	if known > c.maxResponse {
		size = fmt.Sprintf("%d bytes, and at most %d bytes are passed on", known, c.maxResponse)
	} else {
		known = 0
	}
	place := ""
	if !result.IsError {
		place = placeOf(resp, r)
	}
	next := "ask for less, with a filter, fewer fields or smaller pages"
	if place != "" {
		next = "the upstream offers it at the link that follows; fetch it there, or " + next
	}
	if !r.reads() && !result.IsError {
		next += ". The call was carried out: do not repeat it to see its answer"
	}
	result.Content = textResult("%s, with an answer of %s, so none of it is shown: %s", line(result.Status), size, next)
	if place == "" {
		result.IsError, result.Cause = true, errTooLong
		return
	}
	result.Content = append(result.Content, Content{Type: "resource_link", MIMEType: media,
		Link: &Link{place, "answer", "the whole answer, as its upstream offers it", known}})
}

// placeRels are the relations of a Link that lead to the answer itself (RFC 8288, and the
// registry of IANA).
var placeRels = []string{"self", "canonical", "alternate", "enclosure"}

// placeOf returns where the upstream says that its answer can be had: Content-Location (RFC
// 9110 8.7), Location (10.2.2) or Link; "" if there is none, or if it must not be shown.
func placeOf(resp *http.Response, r *Request) string {
	for _, name := range []string{"Content-Location", "Location"} {
		if values := resp.Header[name]; len(values) == 1 && mayTell(values[0], r) {
			return values[0]
		}
	}
	for _, value := range resp.Header["Link"] {
		for target, rels := range links(value) {
			if slices.ContainsFunc(rels, func(rel string) bool { return slices.Contains(placeRels, strings.ToLower(rel)) }) &&
				mayTell(target, r) {
				return target
			}
		}
	}
	return ""
}

// links reads a Link header (RFC 8288 3): its targets, each with its relations.
func links(value string) iter.Seq2[string, []string] {
	return func(yield func(string, []string) bool) {
		for {
			_, rest, found := strings.Cut(value, "<")
			target, params, closed := strings.Cut(rest, ">")
			if !found || !closed {
				return
			}
			value = ""
			if next := strings.IndexByte(params, '<'); next >= 0 {
				params, value = params[:next], params[next:]
			}
			var rels []string
			for param := range strings.SplitSeq(strings.TrimRight(params, ", \t"), ";") {
				name, text, _ := strings.Cut(param, "=")
				if strings.EqualFold(strings.TrimSpace(name), "rel") && rels == nil {
					rels = strings.Fields(strings.Trim(strings.TrimSpace(text), `"`))
				}
			}
			if !yield(target, rels) {
				return
			}
		}
	}
}

// mayTell reports whether a URL of an upstream can be shown: one of http or https at a name
// that the public can look up, which tells neither the upstream's own host nor its credential.
func mayTell(text string, r *Request) bool {
	to, err := netguard.CheckURL(text)
	if err != nil || string(r.credential.Redact([]byte(text))) != text {
		return false
	}
	host := hostOf(to)
	return host != hostOf(&r.url) && isPublicName(host) && !r.namesUpstream(to.RequestURI())
}

// namesUpstream reports whether a text has the name of the upstream's host, percent-encoded or not.
func (r *Request) namesUpstream(text string) bool {
	text, own := strings.ToLower(text), hostOf(&r.url)
	for range maxLayers {
		if hasHost(text, own) {
			return true
		}
		plain, err := url.QueryUnescape(text)
		if err != nil || plain == text {
			break
		}
		text = strings.ToLower(plain)
	}
	return false
}

// hasHost reports whether a text has the name of a host, both in lower case. A name without a dot, such as users, is
// that of a host only where one stands: in a path it is a word like others.
func hasHost(text, host string) bool {
	if strings.ContainsAny(host, ".:") {
		return strings.Contains(text, host)
	}
	for at := 0; ; {
		i := strings.Index(text[at:], host)
		if i < 0 {
			return false
		}
		before, after := text[:at+i], text[at+i+len(host):]
		begins := strings.HasSuffix(before, "//") || strings.HasSuffix(before, "@")
		port := len(after) > 1 && after[0] == ':' && '0' <= after[1] && after[1] <= '9'
		if (begins || port && !inWord(before)) && (after == "" || !partOfHost(after[0])) {
			return true
		}
		at += i + len(host)
	}
}

func inWord(before string) bool { return before != "" && partOfHost(before[len(before)-1]) }

func partOfHost(c byte) bool {
	return c == '-' || c == '_' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z'
}

func hostOf(u *url.URL) string { return strings.ToLower(strings.TrimSuffix(u.Hostname(), ".")) }

// privateNames are the ends of names that no public server has (RFC 6761, 6762, 8375, and
// what ICANN and administrators keep for networks of their own).
var privateNames = []string{".localhost", ".local", ".internal", ".home.arpa", ".lan", ".intranet", ".private", ".corp",
	".home", ".onion"}

// isPublicName takes what has a dot and is neither an address, in any spelling, nor private.
func isPublicName(host string) bool {
	if _, err := netip.ParseAddr(host); err == nil {
		return false
	}
	last := host[strings.LastIndexByte(host, '.')+1:]
	return last != host && last != "" && (last[0] < '0' || last[0] > '9') &&
		!slices.ContainsFunc(privateNames, func(end string) bool { return strings.HasSuffix(host, end) })
}
