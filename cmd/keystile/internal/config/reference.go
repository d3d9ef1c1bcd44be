package config

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// referenceWidth bounds a line of the reference, in characters.
const referenceWidth = 100

// Reference writes all keys as a list for people: type, default, section of the protocol, and
// what each is for.
func Reference(w io.Writer) error {
	_, err := io.WriteString(w, list())
	return err
}

func list() string {
	var out strings.Builder
	for _, k := range keys {
		out.WriteString(k.item())
	}
	return out.String()
}

// ReferenceJSON writes the same as a JSON array.
func ReferenceJSON(w io.Writer) error {
	type entry struct {
		Key         string `json:"key"`
		Type        string `json:"type"`
		Default     string `json:"default,omitempty"`
		Protocol    string `json:"protocol,omitempty"`
		Help        string `json:"help"`
		Environment string `json:"environment,omitempty"`
		Flag        string `json:"flag,omitempty"`
		InFile      bool   `json:"in_file"`
		Secret      bool   `json:"secret"`
	}
	all := make([]entry, 0, len(keys))
	for _, k := range keys {
		e := entry{Key: k.name, Type: k.kind, Default: k.fallback, Protocol: k.protocol, Help: k.help, InFile: k.in(inFile),
			Secret: k.secret}
		if k.in(inEnv) {
			e.Environment = k.env()
		}
		if k.in(inFlag) {
			e.Flag = "--" + k.flag()
		}
		all = append(all, e)
	}
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	return enc.Encode(all)
}

// Page returns the reference as a page in Markdown.
func Page() string {
	return `# Configuration

Each key is written so, or nested, in the file; lifetimes.code is KEYSTILE_LIFETIMES_CODE in the environment and
--lifetimes-code on the command line. A section is one of [protocol.md](../../internal/protocol/protocol.md).
"keystile config --reference" prints this list, with --json for programs, and "keystile config" prints the values in effect
and where each of them comes from.

` + list()
}

// item returns the entry of one key: an item of a list.
func (k key) item() string {
	about := k.kind
	if k.fallback != "" {
		about += ", default " + k.fallback
	}
	if k.protocol != "" {
		about += ", protocol " + k.protocol
	}
	return wrap("  - ", "    ", fmt.Sprintf("%s (%s): %s", k.name, about, k.help+k.where()))
}

// wrap breaks a text into lines of at most referenceWidth characters where words allow it.
func wrap(first, next, text string) string {
	var out strings.Builder
	line := first
	for _, word := range strings.Fields(text) {
		if line != first && line != next && utf8.RuneCountInString(line+word)+1 > referenceWidth {
			out.WriteString(line + "\n")
			line = next
		}
		if line != first && line != next {
			line += " "
		}
		line += word
	}
	return out.String() + line + "\n"
}

// where says which of the three places a key has none in.
func (k key) where() string {
	switch {
	case !k.in(inFile) && !k.in(inFlag):
		return " (environment only)"
	case !k.in(inFile):
		return " (flag and environment only)"
	}
	return ""
}
