package restcall

import (
	"bytes"
	"mime"
	"strings"
	"unicode/utf8"

	"github.com/keystile/keystile/internal/pattern"
	"github.com/keystile/keystile/internal/restcall/internal/charset"
)

// answered is an answer as it is shown.
type answered struct {
	media  string // its type without parameters, "" if it has none
	body   []byte
	isText bool // body is UTF-8; else it is bytes
	whole  bool // as the upstream wrote it: nothing was replaced by U+FFFD
}

// readable reads the text of an answer as UTF-8. Its only error is errTooLong: as UTF-8 it has
// more than most bytes.
//
// The charset is that of a byte order mark, else that of the Content-Type by the names of the web (WHATWG
// Encoding) and of IANA, else the one that XML or HTML names. Valid UTF-8 is taken as such under iso-8859-1 and
// its like too, which many servers add to everything. JSON is UTF-8 whatever charset is declared (RFC 8259
// 8.1), and is read by that charset only if it is not. Invalid bytes become U+FFFD, and such JSON is no
// structured content. A text without a known charset is read so if at most a tenth of its bytes is invalid;
// else it is a resource of bytes, as they came.
func readable(contentType string, body []byte, most int64) (answered, error) {
	media, declared := typeOf(contentType)
	a := answered{media: media, body: body}
	switch {
	case !isText(media):
		if !mayBeText(media) {
			return a, nil
		}
		text := body
		if from := charset.Named(declared); from != (charset.Charset{}) && !isPlainText(body) {
			var err error
			if text, err = from.Decode(body, most); err != nil {
				return a, errTooLong
			}
		}
		if isPlainText(text) && !bytes.ContainsRune(text, utf8.RuneError) {
			a.body, a.isText, a.whole = bytes.TrimPrefix(text, []byte("\uFEFF")), true, true
		}
		return a, nil
	case media == "":
		a.isText = utf8.Valid(body) && !bytes.Contains(body, []byte{0})
		a.whole = a.isText
		return a, nil
	}
	from, mark := charsetOf(media, declared, body)
	unknown := from == charset.Charset{}
	switch {
	case (unknown || from == charset.UTF8) && utf8.Valid(body):
		a.body, a.isText, a.whole = body[mark:], true, true
		return a, nil
	case unknown && !isJSON(media) && !damaged(body):
		return a, nil
	}
	text, err := from.Decode(body[mark:], most)
	if err != nil { // that is charset.ErrTooLong: decoders refuse nothing
		return a, errTooLong
	}
	a.body, a.isText, a.whole = text, true, !bytes.ContainsRune(text, utf8.RuneError)
	return a, nil
}

// typeOf returns a type and the charset that is said of it, "" for what there is not.
func typeOf(contentType string) (media, charset string) {
	switch contentType { // as most write it
	case "application/json":
		return contentType, ""
	case "application/json; charset=utf-8":
		return "application/json", "utf-8"
	}
	media, params, err := mime.ParseMediaType(contentType)
	if err != nil {
		return "", ""
	}
	return media, params["charset"]
}

// charsetOf returns what a text is encoded in, and how long its byte order mark is. None is
// UTF-8, or nothing that is known is said of it.
func charsetOf(media, declared string, body []byte) (from charset.Charset, mark int) {
	if from, mark = charset.Marked(body); mark > 0 {
		return from, mark
	}
	isUTF8, named := utf8.Valid(body), charset.Named(declared)
	switch {
	case isUTF8 && isJSON(media) && !bytes.Contains(body, []byte{0}), isUTF8 && named == charset.Windows1252:
		return charset.Charset{}, 0
	case !isUTF8 && named == charset.Charset{}:
		return charset.Named(stated(media, body)), 0
	}
	return named, 0
}

var (
	xmlCharset  = pattern.Lazy(`^\s*<\?xml\s[^>]*?\bencoding\s*=\s*["']([A-Za-z0-9._:-]{1,40})`)
	htmlCharset = pattern.Lazy(`(?i)<meta\s[^>]*?\bcharset\s*=\s*["']?\s*([A-Za-z0-9._:-]{1,40})`)
)

// stated returns the charset that XML and HTML name themselves. A text in which "UTF-16" can be
// read as ASCII is not UTF-16.
func stated(media string, body []byte) string {
	named := xmlCharset()
	switch {
	case media == "text/html":
		named = htmlCharset()
	case !strings.HasSuffix(media, "xml"):
		return ""
	}
	m := named.FindSubmatch(body[:min(len(body), 1024)])
	if m == nil || bytes.HasPrefix(bytes.ToLower(m[1]), []byte("utf-16")) {
		return ""
	}
	return string(m[1])
}

// damaged reports whether a text is UTF-8 but for few bytes: at most a tenth of it.
func damaged(body []byte) bool {
	bad := 0
	for i := 0; i < len(body); {
		r, size := utf8.DecodeRune(body[i:])
		if r == utf8.RuneError && size == 1 {
			bad++
		}
		i += size
	}
	return bad*10 <= len(body)
}
