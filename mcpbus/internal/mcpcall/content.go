package mcpcall

import (
	"encoding/base64"
	"fmt"
	"mime"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/keystile/keystile/internal/rawjson"
	"github.com/keystile/keystile/internal/toolschema"
)

// field is a member of a content block. It is dropped if keep returns nil.
type field struct {
	name     string
	required bool
	keep     func(raw) raw
}

// blocks maps each type of content to the members it may hold (MCP 2026-07-28, tools).
var blocks = map[string][]field{
	"text":     {{"text", true, keep(isText)}},
	"image":    {{"data", true, keep(isBase64)}, {"mimeType", true, keep(isMedia("image/"))}},
	"audio":    {{"data", true, keep(isBase64)}, {"mimeType", true, keep(isMedia("audio/"))}},
	"resource": {{"resource", true, keepResource}},
	"resource_link": {
		{"uri", true, keep(isURI)}, {"name", true, keep(isText)}, {"title", false, keep(isText)},
		{"description", false, keep(isText)}, {"mimeType", false, keep(isMedia(""))}, {"size", false, keepCount},
	},
}

// readBlock rebuilds a block from its known members, whose text is not changed. A block that is
// malformed or of an unknown type is replaced by a text that says so.
func readBlock(v raw) raw {
	m := object(v)
	kind, _ := stringOf(m["type"])
	fields, known := blocks[kind]
	if !known {
		return textBlock(fmt.Sprintf("[The tool gave content of the type %q, which cannot be shown.]",
			toolschema.Text(kind[:min(len(kind), 64)])))
	}
	body := rebuild(m, append(fields[:len(fields):len(fields)], field{"annotations", false, keepAnnotations}))
	if body == nil {
		return textBlock("[The tool gave content of the type " + strconv.Quote(kind) + " that is malformed.]")
	}
	return append(append(append(raw(`{"type":`), m["type"]...), ','), body[1:]...)
}

func textBlock(s string) raw { return raw(`{"type":"text","text":` + quote(s) + `}`) }

// rebuild returns an object of those members of m that are fields, nil if a required one
// is missing or wrong.
func rebuild(m map[string]raw, fields []field) raw {
	out := raw("{")
	for _, f := range fields {
		var v raw
		if present(m[f.name]) {
			v = f.keep(m[f.name])
		}
		if v == nil && f.required {
			return nil
		}
		if v == nil {
			continue
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(append(append(append(out, '"'), f.name...), `":`...), v...)
	}
	return append(out, '}')
}

// keep keeps a string that passes a check.
func keep(right func(string) bool) func(raw) raw {
	return func(v raw) raw {
		if s, is := stringOf(v); !is || !right(s) {
			return nil
		}
		return v
	}
}

func isText(string) bool { return true }

func isBase64(s string) bool {
	_, err := base64.StdEncoding.DecodeString(s)
	return err == nil
}

// isMedia checks a media type of a family, "" for any.
func isMedia(family string) func(string) bool {
	return func(s string) bool {
		media, _, err := mime.ParseMediaType(s)
		return err == nil && len(s) <= 256 && strings.HasPrefix(media, family) && strings.Contains(media, "/")
	}
}

func isURI(s string) bool {
	u, err := url.Parse(s)
	return err == nil && u.Scheme != "" && len(s) <= 4096
}

func keepCount(v raw) raw {
	if _, err := strconv.ParseUint(string(v), 10, 63); err != nil {
		return nil
	}
	return v
}

// keepResource keeps an embedded resource: text or bytes.
func keepResource(v raw) raw {
	m := object(v)
	body := field{"text", true, keep(isText)}
	if !present(m["text"]) {
		body = field{"blob", true, keep(isBase64)}
	}
	return rebuild(m, []field{{"uri", true, keep(isURI)}, {"mimeType", false, keep(isMedia(""))}, body})
}

var audiences = []string{"user", "assistant"}

// keepAnnotations keeps the audience and priority of a block.
func keepAnnotations(v raw) raw {
	out := rebuild(object(v), []field{
		{"audience", false, keepAudience},
		{"priority", false, keepPriority},
		{"lastModified", false, keep(isText)},
	})
	if len(out) == len("{}") {
		return nil
	}
	return out
}

func keepAudience(v raw) raw {
	if v[0] != '[' {
		return nil
	}
	n := 0
	for who := range rawjson.Elements(v) {
		if s, _ := stringOf(who); !slices.Contains(audiences, s) || n == len(audiences) {
			return nil
		}
		n++
	}
	return v
}

func keepPriority(v raw) raw {
	if n, err := strconv.ParseFloat(string(v), 64); err != nil || n < 0 || n > 1 {
		return nil
	}
	return v
}
