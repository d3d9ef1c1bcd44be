package toolplan // import "github.com/keystile/keystile/storage/toolplan"

import "encoding/json"
import "github.com/keystile/keystile/storage/internal/forward"

type Body struct {
	ContentType string  "json:\"content_type\""
	Whole       string  "json:\"whole,omitempty\""
	Fields      []Field "json:\"fields,omitempty\""
	More        string  "json:\"more,omitempty\""
	Required    bool    "json:\"required,omitempty\""
}

type Call struct {
	Template string  "json:\"template\""
	Params   []Param "json:\"params,omitempty\""
	Body     *Body   "json:\"body,omitempty\""
}

type Field struct {
	Arg           string       "json:\"arg\""
	Name          string       "json:\"name\""
	Required      bool         "json:\"required,omitempty\""
	File          bool         "json:\"file,omitempty\""
	Style         string       "json:\"style,omitempty\""
	Explode       bool         "json:\"explode,omitempty\""
	AllowReserved bool         "json:\"allow_reserved,omitempty\""
	ContentType   string       "json:\"content_type,omitempty\""
	Headers       []PartHeader "json:\"headers,omitempty\""
}

func IsMember(text string) bool

func IsName(text string) bool

type Param struct {
	Arg           string "json:\"arg\""
	Name          string "json:\"name\""
	In            string "json:\"in\""
	Style         string "json:\"style,omitempty\""
	Explode       bool   "json:\"explode,omitempty\""
	Required      bool   "json:\"required,omitempty\""
	JSON          bool   "json:\"json,omitempty\""
	AllowReserved bool   "json:\"allow_reserved,omitempty\""
}

type PartHeader struct {
	Name  string "json:\"name\""
	Value string "json:\"value,omitempty\""
	Arg   string "json:\"arg,omitempty\""
}

func Public(tools []Tool) []Tool

type Skip struct {
	Pointer string "json:\"pointer\""
	Reason  string "json:\"reason\""
}

func SplitName(name string) (member string, tool string, ok bool)

type Tool struct {
	Name        string          "json:\"name\""
	Method      string          "json:\"httpMethod,omitempty\""
	Path        string          "json:\"path,omitempty\""
	Description string          "json:\"description\""
	InputSchema json.RawMessage "json:\"inputSchema\""
	Call        *Call           "json:\"call,omitempty\""
	RemoteName  string          "json:\"remote_name,omitempty\""
	ReadOnly    bool            "json:\"read_only,omitempty\""
	carried
}

func (Tool) ChangesNothing() bool

type carried = forward.Fields
