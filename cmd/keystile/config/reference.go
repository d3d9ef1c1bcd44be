package config

import (
	"fmt"
	"io"
	"strings"
)

// Reference writes the table of all keys in Markdown.
func Reference(w io.Writer) error {
	var out strings.Builder
	out.WriteString("| Key | Type | Default | Protocol | What it is |\n|---|---|---|---|---|\n")
	for _, k := range keys {
		fmt.Fprintf(&out, "| `%s` | %s | %s | %s | %s |\n", k.name, k.kind, code(k.fallback), k.protocol, cell(k.help+k.where()))
	}
	_, err := io.WriteString(w, out.String())
	return err
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

func code(text string) string {
	if text == "" {
		return ""
	}
	return "`" + text + "`"
}

func cell(text string) string { return strings.ReplaceAll(text, "|", `\|`) }
