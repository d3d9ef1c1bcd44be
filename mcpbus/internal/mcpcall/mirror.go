package mcpcall

import (
	"errors"
	"strings"
)

// mirror holds which arguments a modern upstream wants repeated in headers (x-mcp-header; MCP
// 2026-07-28, Streamable HTTP).
type mirror struct {
	tools map[string][]mirrored // by the upstream's name
}

type mirrored struct {
	path   []string // of the argument
	header string
}

// Bounds of mirrored arguments per tool, and of the length of one header.
const (
	maxMirrored = 32
	maxMirror   = 8 << 10 // bytes
)

var errMirror = errors.New("its x-mcp-header is not one that can be sent")

// add reads the input schema of a tool. It fails if the annotations are invalid: the protocol
// forbids calling such a tool.
func (m *mirror) add(tool string, schema raw) error {
	var found []mirrored
	if err := findMirrored(object(schema)["properties"], nil, &found); err != nil {
		return err
	}
	if len(found) == 0 {
		return nil
	}
	if m.tools == nil {
		m.tools = map[string][]mirrored{}
	}
	m.tools[tool] = found
	return nil
}

func findMirrored(properties raw, path []string, found *[]mirrored) error {
	for name, v := range object(properties) {
		property := object(v)
		at := append(path[:len(path):len(path)], name)
		if header := property["x-mcp-header"]; header != nil {
			name, _ := stringOf(header)
			kind, _ := stringOf(property["type"])
			if !isToken(name) || kind != "string" && kind != "integer" && kind != "boolean" || len(*found) == maxMirrored {
				return errMirror
			}
			for _, other := range *found {
				if strings.EqualFold(other.header, name) {
					return errMirror
				}
			}
			*found = append(*found, mirrored{at, name})
		}
		if err := findMirrored(property["properties"], at, found); err != nil {
			return err
		}
	}
	return nil
}

// isToken reports whether a text may be part of a header name (RFC 9110 5.6.2).
func isToken(s string) bool {
	odd := func(r rune) bool { return !alphanumeric(r) && !strings.ContainsRune("!#$%&'*+-.^_`|~", r) }
	return s != "" && len(s) <= 64 && !strings.ContainsFunc(s, odd)
}

// headers returns the mirrored headers of a call. Null or missing arguments have none.
func (m *mirror) headers(tool string, arguments raw) (map[string]string, error) {
	if m == nil || len(m.tools[tool]) == 0 {
		return nil, nil
	}
	out := map[string]string{}
	for _, want := range m.tools[tool] {
		v := arguments
		for _, name := range want.path {
			v = object(v)[name]
		}
		if !present(v) || v[0] == '{' || v[0] == '[' {
			continue // the upstream refuses it if it must
		}
		value, isText := stringOf(v)
		if !isText {
			value = string(v) // a number or a boolean
		}
		if len(value) > maxMirror {
			return nil, failf("the argument %q must have at most %d bytes: it is sent as a header", strings.Join(want.path, "."),
				maxMirror)
		}
		out["Mcp-Param-"+want.header] = value
	}
	return out, nil
}
