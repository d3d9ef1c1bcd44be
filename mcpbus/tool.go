package mcpbus

import (
	"encoding/json"
	"errors"
	"fmt"
	"hash/maphash"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/keystile/keystile/internal/toolschema"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/toolplan"
)

const (
	maxName = 64        // of a tool on the bus: the limit of model APIs
	maxTool = 128 << 10 // bytes of an encoded tool
)

// tool holds one tool of the bus. It is immutable.
type tool struct {
	name       string // member__name
	capability *storage.Capability
	stored     toolplan.Tool
	upstream   string // scheme and host, for the limit of concurrent calls
	json       []byte // as it is listed
	sum        uint64 // of json, for this process
}

var seed = maphash.MakeSeed()

// newTool encodes a stored tool, without invisible text, which an older version may have stored
// or a Discoverer may have passed on. It fails for a tool that a client could not read: one of
// them in a list makes many clients discard the whole list.
func newTool(c *storage.Capability, stored toolplan.Tool) (*tool, error) {
	t := &tool{name: c.Member + "__" + stored.Name, capability: c, stored: stored, upstream: upstreamOf(c.UpstreamURL)}
	switch {
	case stored.Name == "" || !isName(t.name):
		return nil, errors.New("its name is not 1 to 64 of A-Z a-z 0-9 _ - with its member's")
	case stored.Description == "" || !utf8.ValidString(stored.Description):
		return nil, errors.New("its description is empty or not UTF-8")
	}
	if err := checkSchema(stored.InputSchema); err != nil {
		return nil, fmt.Errorf("its input schema %w", err)
	}
	schema, err := toolschema.Legible(stored.InputSchema)
	if err != nil {
		return nil, err
	}
	description := strings.TrimSpace(toolschema.Lines(stored.Description))
	if description == "" {
		return nil, errors.New("its description has nothing that is seen")
	}
	t.json, err = encode(struct {
		Name        string          `json:"name"`
		Description string          `json:"description"`
		InputSchema json.RawMessage `json:"inputSchema"`
		Annotations *annotations    `json:"annotations,omitempty"`
	}{t.name, description, schema, annotationsOf(stored)})
	t.sum = maphash.Bytes(seed, t.json)
	if err == nil && len(t.json) > maxTool {
		err = fmt.Errorf("it has %d bytes, more than %d", len(t.json), maxTool)
	}
	return t, err
}

func isName(name string) bool {
	return len(name) <= maxName && !strings.ContainsFunc(name, func(c rune) bool {
		return (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '_' && c != '-'
	})
}

// checkSchema checks what clients need to parse a list: an object schema whose properties are
// object schemas, and no number beyond a float64.
func checkSchema(raw json.RawMessage) error {
	var schema map[string]any
	if !utf8.Valid(raw) {
		return errors.New("is not UTF-8")
	}
	if err := json.Unmarshal(raw, &schema); err != nil {
		return fmt.Errorf("cannot be read: %w", err)
	}
	if schema["type"] != "object" {
		return errors.New(`is not of type "object"`)
	}
	if v, there := schema["properties"]; there {
		properties, ok := v.(map[string]any)
		if !ok {
			return errors.New("has properties that are no object")
		}
		for name, property := range properties {
			if _, ok := property.(map[string]any); !ok {
				return fmt.Errorf("has a property %q that is no object", name)
			}
		}
	}
	if v, there := schema["required"]; there {
		required, ok := v.([]any)
		if !ok || slices.ContainsFunc(required, func(name any) bool { _, ok := name.(string); return !ok }) {
			return errors.New("has required that is no list of names")
		}
	}
	return nil
}

// annotations holds hints for clients (MCP, tools), derived from the HTTP method or the
// upstream's readOnlyHint.
type annotations struct {
	ReadOnly    bool `json:"readOnlyHint,omitempty"`
	Destructive bool `json:"destructiveHint,omitempty"`
	Idempotent  bool `json:"idempotentHint,omitempty"`
	OpenWorld   bool `json:"openWorldHint"`
}

func annotationsOf(t toolplan.Tool) *annotations {
	switch t.Method {
	case "":
		if t.ChangesNothing() {
			return &annotations{ReadOnly: true, OpenWorld: true}
		}
		return nil // the upstream's other hints are not stored
	case "get":
		return &annotations{ReadOnly: true, OpenWorld: true}
	case "put":
		return &annotations{Idempotent: true, OpenWorld: true}
	case "delete":
		return &annotations{Destructive: true, Idempotent: true, OpenWorld: true}
	}
	return &annotations{OpenWorld: true}
}

// upstreamOf returns the scheme and host of an upstream URL.
func upstreamOf(text string) string {
	u, err := url.Parse(text)
	if err != nil {
		return text
	}
	return strings.ToLower(u.Scheme + "://" + u.Host)
}
