package openapi

import (
	"mime"
	"slices"
	"strings"

	"github.com/keystile/keystile/internal/toolschema"
)

// Media types whose bodies are put together from arguments.
const (
	typeJSON      = "application/json"
	typeForm      = "application/x-www-form-urlencoded"
	typeMultipart = "multipart/form-data"

	anyMultipart = "multipart/" // of each of its kinds, whose parts have names
)

// Media types of bodies that are no fields.
const (
	typeText  = "text/plain"
	typeBytes = "application/octet-stream"
)

// maxMedia bounds the media types that are looked at.
const maxMedia = 64

// mediaType is one that a document names, with its parameters but for charset, and in lower case
// but for their values.
type mediaType struct {
	full string
	bare string // without parameters

	at toolschema.Node // where it stands
}

// mediaTypeOf reads a media type; ok is false if there is none. Of one with a mistake it returns
// what stands before that, and whole is false.
func mediaTypeOf(text string) (t mediaType, whole, ok bool) {
	if plainType(text) {
		return mediaType{full: text, bare: text}, true, true
	}
	single := text[:endOf(text, ',')]
	bare, rest, _ := strings.Cut(single, ";")
	bare = strings.ToLower(strings.TrimSpace(bare))
	end := strings.IndexFunc(bare, func(r rune) bool { return !isTypeRune(r) })
	whole = end < 0 && single == text
	if end >= 0 {
		bare, rest = bare[:end], ""
	}
	major, minor, found := strings.Cut(bare, "/")
	if !found || major == "" || minor == "" || strings.Contains(minor, "/") {
		return mediaType{}, false, false
	}
	params := map[string]string{}
	for rest != "" {
		n := endOf(rest, ';')
		_, one, err := mime.ParseMediaType(bare + ";" + rest[:n])
		if err != nil && strings.TrimSpace(rest[:n]) != "" {
			whole = false
			break
		}
		for name, value := range one {
			params[name] = value
		}
		rest = strings.TrimPrefix(rest[n:], ";")
	}
	delete(params, "charset")
	delete(params, "boundary") // which each body has its own of
	full := mime.FormatMediaType(bare, params)
	if full == "" || !toolschema.Visible(full) {
		full, whole = bare, false
	}
	return mediaType{full: full, bare: bare}, whole, true
}

// endOf returns where the first element of a list ends: at a separator outside of quotes.
func endOf(list string, separator byte) int {
	quoted := false
	for i := 0; i < len(list); i++ {
		switch {
		case quoted && list[i] == '\\':
			i++
		case list[i] == '"':
			quoted = !quoted
		case !quoted && list[i] == separator:
			return i
		}
	}
	return len(list)
}

// plainType reports a media type that needs no reading, as nearly all are.
func plainType(text string) bool {
	slashes := 0
	for i := range len(text) {
		switch c := text[i]; {
		case c == '/' && 0 < i && i < len(text)-1:
			slashes++
		case 'a' <= c && c <= 'z' || '0' <= c && c <= '9' || c == '+' || c == '-' || c == '.':
		default:
			return false
		}
	}
	return slashes == 1
}

func isTypeRune(r rune) bool { return alphanumeric(r) || strings.ContainsRune("/!#$&^_.+-*%'`|~", r) }

func isJSON(bare string) bool {
	return bare == typeJSON || bare == "text/json" || strings.HasSuffix(bare, "+json")
}

// isProblem reports a type of errors (RFC 9457), which documents name beside what they mean.
func isProblem(bare string) bool { return strings.HasPrefix(bare, "application/problem+") }

// textTypes are the types of bodies that are text, beside those that show it by their name.
var textTypes = []string{
	"application/xml", "application/xml-dtd", "application/yaml", "application/x-yaml", "application/toml",
	"application/sql", "application/graphql",
	"application/javascript", "application/ecmascript", "application/x-javascript", "application/x-sh",
	"application/jwt", "application/jose",
	"application/x-pem-file", "application/pem-certificate-chain", "application/csv", "application/n-triples",
	"application/n-quads", "application/trig",
	"application/sparql-query", "application/sparql-update", "application/x-ndjson", "application/ndjson",
	"application/jsonl", "application/x-jsonlines",
	"application/jsonlines", "application/json-seq", "application/json5", "application/hjson", "application/x-latex",
	"application/edifact",
}

func isText(bare string) bool {
	return strings.HasSuffix(bare, "+xml") || strings.HasSuffix(bare, "+yaml") || slices.Contains(textTypes, bare) ||
		strings.HasPrefix(bare, "message/") && !strings.HasSuffix(bare, "*")
}

// binaryTypes are the types of bodies that are bytes whatever their schema says, beside those of
// images, sound and the like.
var binaryTypes = []string{
	typeBytes, "application/pdf", "application/zip", "application/gzip", "application/x-gzip", "application/x-tar",
	"application/x-zip-compressed",
	"application/x-7z-compressed", "application/x-bzip2", "application/zstd", "application/x-protobuf",
	"application/protobuf", "application/cbor",
	"application/msgpack", "application/x-msgpack", "application/wasm", "application/msword",
	"application/vnd.ms-excel",
	"application/vnd.ms-powerpoint",
	"application/epub+zip", "application/java-archive", "application/vnd.apache.parquet", "application/vnd.apache.avro",
	"application/x-binary", "binary/octet-stream",
}

func isBinary(bare string) bool {
	major, _, _ := strings.Cut(bare, "/")
	return slices.Contains([]string{"image", "audio", "video", "font", "model"}, major) || slices.Contains(binaryTypes,
		bare) ||
		strings.HasPrefix(bare, "application/vnd.openxmlformats-officedocument.") || strings.HasPrefix(bare,
		"application/vnd.oasis.opendocument.") ||
		strings.HasSuffix(bare, "+zip") || strings.HasSuffix(bare, "+gzip") || strings.HasSuffix(bare, "+cbor")
}
