package restcall

import (
	"encoding/base64"
	"encoding/json"
	"mime"
	"net/url"
	"path"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/keystile/keystile/internal/rawjson"
)

// file is an argument that stands for bytes.
//
// It is base64 of either alphabet, with padding and line breaks or without, a data URL, or an object
// {"name","type","data"}, which may be the text of one. Its type must be one that its field admits; where an
// octet stream is admitted, any is. Its name loses every path, percent-encoded too, and invisible characters,
// and stands in quotes as browsers write it: RFC 7578 forbids filename*. Without a name it has that of its
// field and the extension of its type.
type file struct {
	name, contentType string // "": not said
	data              []byte
}

// isFile reports a value that can only be a file: a data URL, or an object of one.
func isFile(raw json.RawMessage) bool {
	raw = fileInText(raw)
	switch raw[0] {
	case '"':
		head, _, comma := strings.Cut(textOf(raw, false), ",")
		return comma && len(head) <= maxURLHead && isDataURL(head)
	case '{':
		data := false
		for member, v := range rawjson.Members(raw) {
			switch string(member) {
			case "data":
				data = v[0] == '"'
			case "name", "type":
			default:
				return false
			}
		}
		return data
	}
	return false
}

func isDataURL(text string) bool {
	return len(text) >= len(dataScheme) && strings.EqualFold(text[:len(dataScheme)], dataScheme)
}

const dataScheme = "data:"

// fileInText returns the object or the list that the text of a file holds as JSON, as some clients
// send them, else the value itself.
func fileInText(raw json.RawMessage) json.RawMessage {
	if len(raw) < 4 || raw[0] != '"' || raw[1] != '{' && raw[1] != '[' {
		return raw
	}
	inner := json.RawMessage(rawjson.Unquote(raw))
	if rawjson.Check(inner, rawjson.Limits{Depth: maxDepth, Once: true}) != nil {
		return raw
	}
	return inner
}

// readFile reads a file: a text of base64, a data URL (RFC 2397) that may have a name, or
// an object {"name","type","data"}.
func readFile(arg string, raw json.RawMessage, c *complaints) (f file) {
	if raw = fileInText(raw); raw[0] != '{' {
		f.read(arg, textOf(raw, false), c)
		return f
	}
	var name, kind, data string
	for member, v := range rawjson.Members(raw) {
		into := map[string]*string{"name": &name, "type": &kind, "data": &data}[string(member)]
		switch {
		case into != nil && v[0] == '"':
			*into = textOf(v, false)
		case into == nil || !isNull(v):
			c.add(`argument %q must be base64, a data URL, or an object {"name","type","data"} of texts`, arg)
			return f
		}
	}
	f.read(arg, data, c)
	if name != "" {
		f.name = cleanName(name)
	}
	if kind != "" {
		f.setType(arg, kind, c)
	}
	return f
}

func (f *file) setType(arg, kind string, c *complaints) {
	media, params, err := mime.ParseMediaType(kind)
	if err != nil || !strings.Contains(media, "/") || strings.Contains(media, "*") || !plain(kind) || len(kind) > 255 {
		c.add("argument %q has the type %q, which is no media type such as image/png", arg, clip(kind, 64))
		return
	}
	f.contentType = mime.FormatMediaType(media, params)
}

// maxURLHead bounds what a data URL says before its data: a type and a name.
const maxURLHead = 4 << 10

// read reads the text of a file.
func (f *file) read(arg, text string, c *complaints) {
	if !isDataURL(text) {
		f.decode(arg, text, c)
		return
	}
	head, data, ok := strings.Cut(text[len(dataScheme):], ",")
	if !ok || len(head) > maxURLHead {
		c.add("argument %q must be a data URL with a comma before its data, after at most %d bytes", arg, maxURLHead)
		return
	}
	media, parameters, _ := strings.Cut(head, ";")
	kind, encoded := media, false
	for p := range strings.SplitSeq(parameters, ";") {
		name, value, _ := strings.Cut(p, "=")
		switch name = strings.ToLower(strings.TrimSpace(name)); name {
		case "":
		case "base64":
			encoded = true
		case "name", "filename":
			if plainName, err := url.PathUnescape(strings.Trim(value, `"`)); err == nil {
				f.name = cleanName(plainName)
			}
		default:
			kind += ";" + p
		}
	}
	switch {
	case media != "":
		f.setType(arg, kind, c)
	case !encoded: // of what is in base64 nobody means the text that RFC 2397 makes of it
		f.setType(arg, "text/plain"+kind, c)
	}
	plainData, err := url.PathUnescape(data)
	switch {
	case err != nil:
		c.add("argument %q is a data URL whose data is not percent-encoded", arg)
	case encoded:
		f.decode(arg, plainData, c)
	default:
		f.data = []byte(plainData)
	}
}

// decode reads base64 of either alphabet (RFC 4648 4 and 5), with and without padding and line breaks.
func (f *file) decode(arg, text string, c *complaints) {
	if strings.ContainsAny(text, " \t\r\n") {
		text = strings.Map(func(r rune) rune {
			if strings.ContainsRune(" \t\r\n", r) {
				return -1
			}
			return r
		}, text)
	}
	encoding := base64.RawStdEncoding
	if strings.ContainsAny(text, "-_") {
		encoding = base64.RawURLEncoding
	}
	data, err := encoding.DecodeString(strings.TrimSuffix(strings.TrimSuffix(text, "="), "="))
	if err != nil {
		c.add(`argument %q must be base64 (RFC 4648), a data URL, or an object {"name","type","data"}`, arg)
	}
	f.data = data
}

// maxFileName bounds the name of a file, in bytes, as file systems do.
const maxFileName = 200

// cleanName returns the safe part of a file name: no path, however it is encoded, nothing
// that is not seen, no dots or blanks at the ends. "" if nothing does.
func cleanName(name string) string {
	for read, n := name, 0; ; n++ {
		if i := strings.LastIndexAny(read, "/\\"); i >= 0 {
			read = read[i+1:]
			name = read
		}
		decoded, err := url.PathUnescape(read)
		if err != nil { // a server that is not strict reads the rest
			decoded = slashes2F.Replace(read)
		}
		if n > decodings || decoded == read {
			break
		}
		read = decoded
	}
	name = strings.Map(func(r rune) rune {
		if !unicode.IsGraphic(r) || r == utf8.RuneError {
			return -1
		}
		return r
	}, name)
	name = strings.Trim(name, ". ")
	if len(name) > maxFileName {
		end := path.Ext(name)
		end = end[:min(len(end), 16)]
		name = strings.ToValidUTF8(name[:maxFileName-len(end)], "") + strings.ToValidUTF8(end, "")
	}
	return name
}

var slashes2F = strings.NewReplacer("%2f", "/", "%2F", "/", "%5c", "/", "%5C", "/", "%25", "%")

// nameFor is the name under which a file is sent: its own, or that of its field with the
// extension of its type.
func (f *file) nameFor(field, contentType string) string {
	if f.name != "" {
		return f.name
	}
	name := cleanName(strings.NewReplacer("/", "_", `\`, "_").Replace(field))
	if name == "" {
		name = "file"
	}
	return name + extensions[bareType(contentType)]
}

// extensions maps media types to common file extensions. The tables of operating systems
// differ, and have several for one type.
var extensions = map[string]string{
	"image/png": ".png", "image/jpeg": ".jpg", "image/gif": ".gif", "image/webp": ".webp", "image/svg+xml": ".svg",
	"image/avif": ".avif", "image/heic": ".heic", "image/bmp": ".bmp", "image/tiff": ".tiff", "image/x-icon": ".ico",
	"audio/mpeg": ".mp3", "audio/wav": ".wav", "audio/wave": ".wav", "audio/x-wav": ".wav", "audio/ogg": ".ogg",
	"audio/flac": ".flac",
	"audio/mp4":  ".m4a", "audio/webm": ".weba", "video/mp4": ".mp4", "video/webm": ".webm", "video/quicktime": ".mov",
	"application/pdf": ".pdf", "application/zip": ".zip", "application/gzip": ".gz", "application/x-gzip": ".gz",
	"application/x-tar": ".tar",
	"application/json":  ".json", "application/xml": ".xml", "text/xml": ".xml", "text/plain": ".txt", "text/csv": ".csv",
	"text/html": ".html", "text/markdown": ".md", "text/css": ".css", "text/javascript": ".js",
	"application/yaml":     ".yaml",
	"application/x-ndjson": ".ndjson", "application/jsonl": ".jsonl", "application/rtf": ".rtf",
	"application/epub+zip": ".epub",
	"application/msword":   ".doc", "application/vnd.ms-excel": ".xls", "application/vnd.ms-powerpoint": ".ppt",
	"application/vnd.openxmlformats-officedocument.wordprocessingml.document":   ".docx",
	"application/vnd.openxmlformats-officedocument.spreadsheetml.sheet":         ".xlsx",
	"application/vnd.openxmlformats-officedocument.presentationml.presentation": ".pptx",
}
