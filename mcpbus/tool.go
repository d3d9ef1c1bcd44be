package mcpbus

import (
	"crypto/sha256"
	"encoding/base32"
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
	maxTool = 128 << 10 // bytes of an encoded tool
)

// tool holds one tool of the bus. It is immutable.
type tool struct {
	name       string // member__name, by which rules, scopes and records know it
	listed     string // the name in lists, of at most Config.MaxName characters
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
func newTool(c *storage.Capability, stored toolplan.Tool, maxName int) (*tool, error) {
	t := &tool{name: c.Member + "__" + stored.Name, capability: c, stored: stored, upstream: upstreamOf(c.UpstreamURL)}
	switch {
	case stored.Name == "" || !isName(t.name):
		return nil, errors.New("its name is not 1 to 64 of A-Z a-z 0-9 _ - with its member's")
	case stored.Description == "" || !utf8.ValidString(stored.Description):
		return nil, errors.New("its description is empty or not UTF-8")
	}
	t.listed = shortName(t.name, maxName)
	if err := checkSchema(stored.InputSchema); err != nil {
		return nil, fmt.Errorf("its input schema %w", err)
	}
	schema, err := toolschema.Legible(stored.InputSchema)
	if err != nil {
		return nil, err
	}
	if stored.OutputSchema != nil {
		if err := checkSchema(stored.OutputSchema); err != nil {
			return nil, fmt.Errorf("its output schema %w", err)
		}
	}
	description := strings.TrimSpace(toolschema.Lines(stored.Description))
	if description == "" {
		return nil, errors.New("its description has nothing that is seen")
	}
	t.json, err = encode(listed{t.listed, toolschema.Text(stored.Title), description, schema, stored.OutputSchema,
		stored.Icons, annotationsOf(stored)})
	t.sum = maphash.Bytes(seed, t.json)
	if err == nil && len(t.json) > maxTool {
		err = fmt.Errorf("it has %d bytes, more than %d", len(t.json), maxTool)
	}
	return t, err
}

// listed is a tool in a list (MCP, Tool).
type listed struct {
	Name         string                `json:"name"`
	Title        string                `json:"title,omitempty"`
	Description  string                `json:"description"`
	InputSchema  json.RawMessage       `json:"inputSchema"`
	OutputSchema json.RawMessage       `json:"outputSchema,omitempty"`
	Icons        []toolplan.Icon       `json:"icons,omitempty"`
	Annotations  *toolplan.Annotations `json:"annotations,omitempty"`
}

func isName(name string) bool {
	return len(name) <= MaxName && !strings.ContainsFunc(name, func(c rune) bool {
		return (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '_' && c != '-'
	})
}

// shortName returns a name of at most so many characters. It depends on the whole name and on nothing else, so it
// is the same on each node and whatever else is on the bus, and nobody finds a second name that becomes it. Only
// tools of the same member may have it as their whole name.
//
// Lists show the short name. Rules, scopes, bundles, cursors and records have the whole name, which also calls
// the tool, so that a change of Config.MaxName changes none of them.
func shortName(name string, max int) string {
	if len(name) <= max {
		return name
	}
	sum := sha256.Sum256([]byte(name))
	hash := "_" + strings.ToLower(base32.HexEncoding.EncodeToString(sum[:])[:13]) // 65 bits
	// which would make __ of a member's end
	return strings.TrimRight(name[:max-len(hash)], "_") + hash
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

// annotationsOf returns the hints for clients (MCP, tools): those of the upstream, or what the HTTP method says.
func annotationsOf(t toolplan.Tool) *toolplan.Annotations {
	if t.Annotations != nil {
		shown := *t.Annotations
		shown.Title = toolschema.Text(shown.Title)
		return &shown
	}
	yes := true
	switch t.Method {
	case "":
		if t.ChangesNothing() { // a version that kept no other hints has stored it
			return &toolplan.Annotations{ReadOnly: &yes, OpenWorld: &yes}
		}
		return nil
	case "get", "query":
		return &toolplan.Annotations{ReadOnly: &yes, OpenWorld: &yes}
	case "put":
		return &toolplan.Annotations{Idempotent: &yes, OpenWorld: &yes}
	case "delete":
		return &toolplan.Annotations{Destructive: &yes, Idempotent: &yes, OpenWorld: &yes}
	}
	return &toolplan.Annotations{OpenWorld: &yes}
}

// upstreamOf returns the scheme and host of an upstream URL.
func upstreamOf(text string) string {
	u, err := url.Parse(text)
	if err != nil {
		return text
	}
	return strings.ToLower(u.Scheme + "://" + u.Host)
}
