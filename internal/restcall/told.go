package restcall

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/keystile/keystile/internal/netguard"
	"github.com/keystile/keystile/internal/pattern"
)

// Header is a header of an answer that helps whoever reads it to go on: it says where the result is, what the next page
// is, or when to try again.
type Header struct{ Name, Value string }

// Bounds of what is told of one answer's headers.
const (
	maxTold      = 24      // headers
	maxToldValue = 2 << 10 // bytes of a value; a longer one is left out, since half a link leads nowhere
	maxToldName  = 64      // bytes of a name
)

// known says of headers that are not of one API whether they are told.
var known = listed(
	[]string{
		"Location", "Content-Location", "Operation-Location", "Azure-Asyncoperation", "Link", "Retry-After", "Etag",
		"Last-Modified",
		"Content-Range", "Content-Disposition", "Deprecation", "Sunset", "Ratelimit", "Ratelimit-Policy",
	},
	[]string{
		"Accept-Ranges", "Age", "Alt-Svc", "Cache-Control", "Connection", "Content-Encoding", "Content-Length",
		"Content-Security-Policy", "Content-Type", "Date", "Expires", "Keep-Alive", "Nel", "Permissions-Policy",
		"Pragma",
		"Referrer-Policy", "Report-To", "Server", "Server-Timing", "Strict-Transport-Security", "Te", "Trailer",
		"Transfer-Encoding", "Upgrade", "Vary", "Via", "X-Content-Type-Options", "X-Frame-Options", "X-Powered-By",
		"X-Xss-Protection",
	},
)

func listed(told, quiet []string) map[string]bool {
	all := map[string]bool{}
	for _, name := range told {
		all[name] = true
	}
	for _, name := range quiet {
		all[name] = false
	}
	return all
}

var (
	// toldWords stand in the names that APIs have made up for pages, totals and rates: X-Total-Count, X-Next-Page,
	// X-RateLimit-Remaining, X-Ms-Continuation.
	toldWords = words("continuation", "count", "cursor", "next", "page", "pages", "pagination", "prev", "previous",
		"quota",
		"rate", "ratelimit", "remaining", "retry", "total")
	// secretWords stand in the names of headers that hold credentials. Such a header is never told.
	secretWords = words("auth", "authenticate", "authentication", "authorization", "cookie", "cookie2", "credential",
		"credentials", "csrf", "password", "secret", "xsrf")
	// keyWords do so too, unless the header is about pages, as X-Next-Token is.
	keyWords = words("key", "session", "signature", "token")
)

// words returns words as they stand in the canonical name of a header, which is looked at for each answer.
func words(lower ...string) map[string]bool {
	is := make(map[string]bool, len(lower))
	for _, word := range lower {
		is[http.CanonicalHeaderKey(word)] = true
	}
	return is
}

// MayTell reports whether a header of answers that a document declares may be told: none that holds a credential, nor
// one that only concerns the programs on the way.
func MayTell(name string) bool {
	name = http.CanonicalHeaderKey(name)
	if told, is := known[name]; is {
		return told
	}
	between := strings.HasPrefix(name, "Access-Control-") || strings.HasPrefix(name, "Proxy-")
	if !headerName(name) || len(name) > maxToldName || between {
		return false
	}
	return !has(name, secretWords) && (!has(name, keyWords) || has(name, toldWords))
}

// tells reports whether a header is told even if the document does not declare it.
func tells(name string) bool {
	told, is := known[name]
	return told || !is && has(name, toldWords) && MayTell(name)
}

// has reports whether a canonical name has one of these words.
func has(name string, words map[string]bool) bool {
	for word := range strings.SplitSeq(name, "-") {
		if words[word] {
			return true
		}
	}
	return false
}

// told returns the headers of an answer that are shown, in the order of their names.
//
// They are shown in a line of text, and in Result.Headers for machines: where the result or the operation is,
// the next page, versions, when to try again, totals and rates, and those that the document declares for 2xx.
// Credentials, and headers that only concern programs on the way, are never shown. URLs of the upstream and of
// places inside a network become paths, and a value that names the upstream in another way is left out.
func (r *Request) told(header http.Header) (out []Header) {
	for name, values := range header {
		if tells(name) || slices.Contains(r.tells, name) {
			if value := r.shown(name, strings.Join(values, ", ")); value != "" {
				out = append(out, Header{name, value})
			}
		}
	}
	slices.SortFunc(out, func(a, b Header) int { return strings.Compare(a.Name, b.Name) })
	return out[:min(len(out), maxTold)]
}

var (
	// oneLink is a link of a Link header, with its parameters and the comma behind it.
	oneLink = pattern.Lazy(`<([^<>]*)>[^<]*`)
	// anyURL is a URL within another text, such as the JSON of an X-Pagination.
	anyURL = pattern.Lazy(`[A-Za-z][A-Za-z0-9+.-]*://[^\s"'<>\\,;{}|^` + "`" + `]*`)
)

// shown is a value of a header as it may be shown, "" for one that may not: without the credential, and without the
// name of the upstream, whose own URLs become paths.
func (r *Request) shown(name, value string) string {
	isURL := slices.Contains([]string{"Location", "Content-Location", "Operation-Location", "Azure-Asyncoperation"},
		name)
	if value = inUTF8(value, isURL); len(value) > maxToldValue || !plain(value) {
		return ""
	}
	value = string(r.credential.Redact([]byte(value)))
	if isURL {
		return r.shownURL(value)
	}
	if name == "Link" {
		value = strings.TrimRight(oneLink().ReplaceAllStringFunc(value, r.shownLink), ", ")
	}
	hidden := false
	value = anyURL().ReplaceAllStringFunc(value, func(text string) string {
		as := r.shownURL(text)
		hidden = hidden || as == ""
		return as
	})
	if hidden || r.namesUpstream(value) {
		return ""
	}
	return value
}

// inUTF8 reads the bytes of a header that are no UTF-8 as ISO 8859-1, which headers once were; in a URL they stay the
// bytes that they are.
func inUTF8(value string, isURL bool) string {
	if utf8.ValidString(value) {
		return value
	}
	var out []byte
	for i := range len(value) {
		switch c := value[i]; {
		case c >= utf8.RuneSelf && isURL:
			out = percent(out, value[i:i+1], "")
		default:
			out = utf8.AppendRune(out, rune(c))
		}
	}
	return string(out)
}

// shownLink is one link of a Link header with a target that may be shown, "" if there is none.
func (r *Request) shownLink(link string) string {
	end := strings.IndexByte(link, '>')
	target := link[1:end]
	if target == "" { // the resource itself
		return link
	}
	if target = r.shownURL(target); target == "" {
		return ""
	}
	return "<" + target + link[end:]
}

// shownURL returns a URL that may be shown: of the upstream, and of a place inside a network, the path alone; "" if
// the rest of it names the upstream, or if it has a password or is not of HTTP.
func (r *Request) shownURL(text string) string {
	to, err := url.Parse(text)
	if err != nil || to.Opaque != "" {
		return ""
	}
	switch host := hostOf(to); {
	case host == "" && to.Scheme == "":
	case host == hostOf(&r.url), !isPublicName(host):
		to.Scheme, to.Host, to.User = "", "", nil
		if text = to.String(); text == "" {
			text = "/"
		}
		if strings.HasPrefix(text, "//") { // or it would begin with a host
			text = "/." + text
		}
	case to.User != nil, to.Scheme != "" && !isWeb(text):
		return ""
	}
	if r.namesUpstream(text) {
		return ""
	}
	return text
}

func isWeb(text string) bool {
	_, err := netguard.CheckURL(text)
	return err == nil
}

// linksTo reports whether a result has a link to a place.
func (r *Result) linksTo(place string) bool {
	return slices.ContainsFunc(r.Content, func(c Content) bool { return c.Link != nil && c.URI == place })
}

// toldIn appends the headers of an answer to a result: to its text where that says little else, so that those who show
// one text show them too.
func (r *Result) toldIn(headers []Header) {
	if r.Headers = headers; len(headers) == 0 {
		return
	}
	var text strings.Builder
	text.WriteString("Headers of the answer: ")
	for i, h := range headers {
		if i > 0 {
			text.WriteString("; ")
		}
		text.WriteString(h.Name + ": " + h.Value)
	}
	if first := &r.Content[0]; r.Bytes == 0 && first.Type == "text" {
		first.Text += "\n" + text.String()
		return
	}
	r.Content = append(r.Content, Content{Type: "text", Text: text.String()})
}
