package toolplan

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/keystile/keystile/internal/record/forward"
)

// carried keeps what a newer version has written into a record.
type carried = forward.Fields

var _ = Tool{}.carried

// Tool is one operation of an upstream: what everyone may see of it (protocol 2.7), and the
// plan by which its arguments become a call. The registrar writes it, the bus reads it.
type Tool struct {
	Name string `json:"name"` // unique within its capability, [A-Za-z0-9_-]
	// get, post, put, delete, patch or query; "" if the upstream calls it by name
	Method      string          `json:"httpMethod,omitempty"`
	Path        string          `json:"path,omitempty"`        // with :x for {x}; for display, never executed
	Description string          `json:"description"`           // never empty
	InputSchema json.RawMessage `json:"inputSchema"`           // an object schema, JSON Schema 2020-12
	Call        *Call           `json:"call,omitempty"`        // nil: the upstream's MCP endpoint is called by name
	RemoteName  string          `json:"remote_name,omitempty"` // the name there; "": Name
	ReadOnly    bool            `json:"read_only,omitempty"`   // declared read-only by the upstream's MCP endpoint; see ChangesNothing

	// RemoteArgs has the upstream's name of each argument, at any level, that is offered under another because models
	// cannot write it.
	RemoteArgs map[string]string `json:"remote_args,omitempty"`

	// These are the further members of a tool of an MCP endpoint. Tools that are called by HTTP have none of them.
	Title        string          `json:"title,omitempty"`        // for people, in place of Name
	Annotations  *Annotations    `json:"annotations,omitempty"`  // nil: none
	OutputSchema json.RawMessage `json:"outputSchema,omitempty"` // an object schema of structured results; nil: none
	Icons        []Icon          `json:"icons,omitempty"`
	carried
}

// Annotations are the hints of a tool as an upstream gave them (MCP, ToolAnnotations); nil: it gave none. They
// are shown to clients. Rules and scopes for tools that change nothing go by [Tool.ChangesNothing] instead.
type Annotations struct {
	Title       string `json:"title,omitempty"`
	ReadOnly    *bool  `json:"readOnlyHint,omitempty"`
	Destructive *bool  `json:"destructiveHint,omitempty"`
	Idempotent  *bool  `json:"idempotentHint,omitempty"`
	OpenWorld   *bool  `json:"openWorldHint,omitempty"`
}

// Icon is a picture of a tool (MCP, Icon).
type Icon struct {
	Source string   `json:"src"` // a data URL, so that to show it asks nobody
	Type   string   `json:"mimeType,omitempty"`
	Sizes  []string `json:"sizes,omitempty"` // such as 48x48, or any
	Theme  string   `json:"theme,omitempty"` // light or dark
}

// ChangesNothing reports whether a tool only reads: by HTTP if its method is GET, HEAD or QUERY,
// else if its upstream declares so.
func (t Tool) ChangesNothing() bool {
	if t.Call != nil {
		return slices.Contains([]string{"get", "head", "query"}, strings.ToLower(t.Method))
	}
	return t.ReadOnly
}

// Call is the plan of one HTTP request. Public paths are ambiguous (:id inside :idx,
// a literal :cancel), so the document's own template is kept beside them. Every property
// of a tool's InputSchema is bound exactly once: by a Param, a Field, a PartHeader,
// Body.Whole or Body.More.
type Call struct {
	Template string  `json:"template"`         // /pets/{petId}
	Params   []Param `json:"params,omitempty"` // in the order in which they are sent
	Body     *Body   `json:"body,omitempty"`

	// Accept and Tells come from what the document says of 2xx answers: their media types and ranges, separated by
	// commas ("": JSON before others), and their headers.
	Accept string   `json:"accept,omitempty"`
	Tells  []string `json:"tells,omitempty"` // headers of them that are shown, beside those of every answer
}

// Param binds one argument to a place in the path, the query, the headers or the cookies.
type Param struct {
	Arg      string `json:"arg"`                // the property of InputSchema
	Name     string `json:"name"`               // the name the upstream knows
	In       string `json:"in"`                 // path, query, header, cookie, or querystring: the value is the query
	Style    string `json:"style,omitempty"`    // OpenAPI 3 style; "": simple for path and header, form for query and cookie
	Explode  bool   `json:"explode,omitempty"`  // lists and objects become one parameter per member
	Required bool   `json:"required,omitempty"` // always true in the path
	JSON     bool   `json:"json,omitempty"`     // the value is sent as JSON text (a `content` parameter)

	// AllowReserved is of the path: a slash in the value stays one, and is not sent as %2F.
	AllowReserved bool `json:"allow_reserved,omitempty"`
}

// Body binds arguments to the request body.
type Body struct {
	ContentType string  `json:"content_type"`       // application/json, application/x-www-form-urlencoded, multipart/form-data or another type
	Whole       string  `json:"whole,omitempty"`    // the one argument that is the whole body; "": Fields and More
	Fields      []Field `json:"fields,omitempty"`   // members of the object that is the body
	More        string  `json:"more,omitempty"`     // the argument whose members are members of the body beside Fields; "": none
	Required    bool    `json:"required,omitempty"` // false: with no field given, no body is sent

	// File is of Whole and More: what is given is bytes. In a multipart form each of their members
	// is a file part, a list of such, or with OrText a text.
	File bool `json:"file,omitempty"`
	// OrText is of a File: only a data URL or an object with data is bytes, and anything else is sent as
	// it is, as ContentType.
	OrText bool `json:"or_text,omitempty"`
	// Types are the media types and ranges as which bytes may be sent that are all of the body; none: ContentType.
	Types []string `json:"types,omitempty"`
}

// Field binds one argument to a member of the body.
type Field struct {
	Arg      string `json:"arg"`
	Name     string `json:"name"`
	Required bool   `json:"required,omitempty"` // by the body's own list: needed as soon as any field is given
	File     bool   `json:"file,omitempty"`     // bytes that become a file part of a multipart body
	OrText   bool   `json:"or_text,omitempty"`  // of a File: only a data URL or an object with data is bytes

	// Style says how a form writes the value: an OpenAPI 3 style, or tabDelimited, which OpenAPI
	// 2.0 calls tsv. "": a list is one entry for each element, and objects are JSON.
	Style         string `json:"style,omitempty"`
	Explode       bool   `json:"explode,omitempty"`        // with a Style: lists and objects become one entry per member
	AllowReserved bool   `json:"allow_reserved,omitempty"` // with a Style: reserved characters that mean nothing to a form stay as they are

	ContentType string       `json:"content_type,omitempty"` // media types and ranges the value may be sent as, separated by commas; "": by its form
	Headers     []PartHeader `json:"headers,omitempty"`      // of the part of a multipart body
}

// PartHeader is a header of one part of a multipart body: a fixed value, or an argument
// that is needed as soon as the part is given.
type PartHeader struct {
	Name  string `json:"name"`
	Value string `json:"value,omitempty"`
	Arg   string `json:"arg,omitempty"` // "": Value is sent
}

// Skip is a piece of a document that was left out of its tools.
type Skip struct {
	Pointer string `json:"pointer"` // RFC 6901
	Reason  string `json:"reason"`
	Usual   bool   `json:"usual,omitempty"` // documents have it in many places, and calls do without
}

// Public returns tools as everyone may see them (protocol 2.7): without the plan of the call.
func Public(tools []Tool) []Tool {
	out := make([]Tool, len(tools))
	for i, t := range tools {
		t.Call, t.ReadOnly = nil, false
		out[i] = t
	}
	return out
}

// SplitName splits the name of a tool on the bus into those of its capability and its own;
// false if it is not of that form.
func SplitName(name string) (member, tool string, ok bool) {
	member, tool, ok = strings.Cut(name, "__")
	return member, tool, ok && IsMember(member) && tool != ""
}

// IsMember reports whether a text can be the name of a capability: 1 to 48 of A-Z a-z 0-9 _ -.
func IsMember(text string) bool { return IsName(text) && len(text) <= 48 }

// IsName reports whether a text can be the name of a tool: 1 to 64 of A-Z a-z 0-9 _ -.
func IsName(text string) bool {
	return text != "" && len(text) <= 64 && !strings.ContainsFunc(text, func(c rune) bool {
		return (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '_' && c != '-'
	})
}

// Discovery holds what an upstream MCP endpoint lists.
type Discovery struct {
	Tools   []Tool        // named and described as they are to be listed, with input schemas that any client can read
	Skipped []Skip        // entries of its list that are not usable as tools
	Again   time.Duration // until it is asked again; 0: it does not say
}
