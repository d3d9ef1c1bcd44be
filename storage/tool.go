package storage

import (
	"encoding/json"
	"strings"
)

// Tool is one operation of an upstream: what everyone may see of it (spec 2.7), and the
// plan by which its arguments become a call. The registrar writes it, the bus reads it.
type Tool struct {
	Name        string          `json:"name"`                  // unique within its capability, [A-Za-z0-9_-]
	Method      string          `json:"httpMethod,omitempty"`  // get, post, put, delete or patch; "" if the upstream calls it by name
	Path        string          `json:"path,omitempty"`        // with :x for {x}; for people, never executed
	Description string          `json:"description"`           // never empty
	InputSchema json.RawMessage `json:"inputSchema"`           // an object schema, JSON Schema 2020-12
	Call        *Call           `json:"call,omitempty"`        // nil: the upstream's MCP endpoint is called by name
	RemoteName  string          `json:"remote_name,omitempty"` // the name there; "": Name
	ReadOnly    bool            `json:"read_only,omitempty"`   // the upstream's MCP endpoint says that it changes nothing; see ChangesNothing
	carried
}

// ChangesNothing reports whether a tool only reads: by HTTP if its method is GET or HEAD,
// else if its upstream says so.
func (t Tool) ChangesNothing() bool {
	if t.Call != nil {
		return strings.EqualFold(t.Method, "get") || strings.EqualFold(t.Method, "head")
	}
	return t.ReadOnly
}

// Call is the plan of one HTTP request. Public paths are ambiguous (:id inside :idx,
// a literal :cancel), so the document's own template is kept beside them. Every property
// of a tool's InputSchema is bound exactly once: by a Param, a Field or Body.Whole.
type Call struct {
	Template string  `json:"template"`         // /pets/{petId}
	Params   []Param `json:"params,omitempty"` // in the order in which they are sent
	Body     *Body   `json:"body,omitempty"`
}

// Param binds one argument to a place in the path, the query or the headers.
type Param struct {
	Arg      string `json:"arg"`                // the property of InputSchema
	Name     string `json:"name"`               // the name the upstream knows
	In       string `json:"in"`                 // path, query or header
	Style    string `json:"style,omitempty"`    // OpenAPI 3 style; "": simple for path and header, form for query
	Explode  bool   `json:"explode,omitempty"`  // lists and objects become one parameter per member
	Required bool   `json:"required,omitempty"` // always true in the path
	JSON     bool   `json:"json,omitempty"`     // the value is sent as JSON text (a `content` parameter)

	// AllowReserved is of the path: a slash in the value stays one, and is not sent as %2F.
	AllowReserved bool `json:"allow_reserved,omitempty"`
}

// Body binds arguments to the request body.
type Body struct {
	ContentType string  `json:"content_type"`       // application/json, application/x-www-form-urlencoded, multipart/form-data or another type
	Whole       string  `json:"whole,omitempty"`    // the one argument that is the whole body; "": Fields
	Fields      []Field `json:"fields,omitempty"`   // members of the object that is the body
	Required    bool    `json:"required,omitempty"` // false: with no field given, no body is sent
}

// Field binds one argument to a member of the body.
type Field struct {
	Arg      string `json:"arg"`
	Name     string `json:"name"`
	Required bool   `json:"required,omitempty"` // by the body's own list: needed as soon as any field is given
	File     bool   `json:"file,omitempty"`     // base64 text that becomes a file part of a multipart body
}

// Skip is a piece of a document that was left out of its tools.
type Skip struct {
	Pointer string `json:"pointer"` // RFC 6901
	Reason  string `json:"reason"`
}
