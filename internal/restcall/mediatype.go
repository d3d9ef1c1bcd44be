package restcall

import (
	"encoding/json"
	"fmt"
	"mime"
	"net/http"
	"slices"
	"strings"
	"unicode/utf8"
)

// MaxMediaTypes bounds how many types one value may be sent as.
const MaxMediaTypes = 32

// mediaTypes reads a list of media types and ranges, as Encoding has it in OpenAPI.
func mediaTypes(list string) (out []string, err error) {
	if list == "" {
		return nil, nil
	}
	for text := range strings.SplitSeq(list, ",") {
		media, params, err := mime.ParseMediaType(text)
		if err != nil || !strings.Contains(media, "/") || !plain(list) || len(out) == MaxMediaTypes {
			return nil, fmt.Errorf("the content type %q cannot be read", clip(list, 64))
		}
		out = append(out, mime.FormatMediaType(media, params))
	}
	return out, nil
}

// CheckMediaTypes says what is wrong with a list of media types, nil if nothing is.
func CheckMediaTypes(list string) error {
	_, err := mediaTypes(list)
	return err
}

// bareType is a media type without parameters.
func bareType(media string) string {
	bare, _, _ := strings.Cut(media, ";")
	return strings.ToLower(strings.TrimSpace(bare))
}

func isRange(media string) bool { return strings.Contains(bareType(media), "*") }

// admits reports whether a type is one of a list, or in one of its ranges.
func admits(list []string, media string) bool {
	media = bareType(media)
	return len(list) == 0 || slices.ContainsFunc(list, func(one string) bool {
		one = bareType(one)
		major, all := strings.CutSuffix(one, "*")
		return one == media || one == "*/*" || all && strings.HasPrefix(media, major)
	})
}

// valueType is the type of a value that is no file: the first of the document's that it
// fits, "" for text about which nothing is said. Objects and lists are JSON wherever no
// type that holds them is named.
func (f *field) valueType(raw json.RawMessage) string {
	whole := raw[0] == '{' || raw[0] == '['
	for _, media := range f.types {
		switch bare := bareType(media); {
		case isRange(media):
			if whole && admits([]string{media}, "application/json") {
				return "application/json"
			}
			if !whole && admits([]string{media}, "text/plain") {
				return "text/plain"
			}
		case !whole || isJSON(bare) || strings.HasPrefix(bare, "text/") || bare == "application/octet-stream":
			return media
		}
	}
	if whole {
		return "application/json"
	}
	if len(f.types) > 0 {
		return "application/octet-stream" // a range that text does not fit
	}
	return ""
}

// written is a value as a type has it. A text that is an object or a list already is not
// made a JSON string of: documents declare the JSON of a part as a string.
func written(raw json.RawMessage, media string) string {
	text := textOf(raw, false)
	if raw[0] != '"' || !isJSON(bareType(media)) {
		return text
	}
	if inner := strings.TrimLeft(text, " \t\r\n"); inner != "" && (inner[0] == '{' || inner[0] == '[') &&
		json.Valid([]byte(text)) {
		return text
	}
	return string(raw)
}

// Types that say nothing of bytes.
const typeBytes = "application/octet-stream"

// fileType is the type of a file: its own if it is one of those that the document admits, else what
// its bytes show, else the first of the document's that they fit.
func fileType(arg string, types []string, of *file, c *complaints) string {
	if of.contentType == typeBytes && !admits(types, typeBytes) {
		of.contentType = ""
	}
	if of.contentType == "" {
		of.contentType = guess(types, of.data)
	} else if !admits(types, of.contentType) && !admits(types, typeBytes) {
		c.add("argument %q must be of type %s", arg, clip(strings.Join(types, " or "), 300))
	}
	return of.contentType
}

// wholeType is the type of a file that is all of a body, of which only those types are read that its
// operation names.
func wholeType(arg string, types []string, of *file, c *complaints) string {
	if of.contentType != "" && !admits(types, of.contentType) && admits(types, typeBytes) {
		return typeBytes
	}
	if i := slices.IndexFunc(types, func(t string) bool { return bareType(t) == bareType(of.contentType) }); i >= 0 {
		return types[i] // with its parameters
	}
	return fileType(arg, types, of, c)
}

func guess(types []string, data []byte) string {
	switch {
	case len(types) == 0:
		return typeBytes
	case len(types) == 1 && !isRange(types[0]):
		return types[0]
	}
	seen := http.DetectContentType(data)
	for _, media := range types {
		if !isRange(media) && bareType(media) == bareType(seen) {
			return media
		}
	}
	if bareType(seen) != typeBytes && bareType(seen) != "text/plain" && admits(types, seen) {
		return seen
	}
	if slices.Contains(types, typeBytes) {
		return typeBytes // which says no more than is known
	}
	for _, media := range types {
		if !isRange(media) && fits(data, bareType(media)) {
			return media
		}
	}
	if i := slices.IndexFunc(types, func(media string) bool { return !isRange(media) }); i >= 0 {
		return types[i]
	}
	if admits(types, seen) {
		return seen
	}
	return typeBytes
}

// fits reports whether bytes may be of a type, as far as that is easily seen.
func fits(data []byte, media string) bool {
	switch {
	case isJSON(media):
		return json.Valid(data)
	case strings.HasPrefix(media, "text/"):
		return utf8.Valid(data)
	}
	return true
}
