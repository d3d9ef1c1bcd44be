package toolplan // import "github.com/keystile/keystile/storage/toolplan"

import "encoding/json"
import "github.com/keystile/keystile/internal/record/forward"
import "time"

type Annotations struct {
	Title       string "json:\"title,omitempty\""
	ReadOnly    *bool  "json:\"readOnlyHint,omitempty\""
	Destructive *bool  "json:\"destructiveHint,omitempty\""
	Idempotent  *bool  "json:\"idempotentHint,omitempty\""
	OpenWorld   *bool  "json:\"openWorldHint,omitempty\""
}

type Body struct {
	ContentType string   "json:\"content_type\""
	Whole       string   "json:\"whole,omitempty\""
	Fields      []Field  "json:\"fields,omitempty\""
	More        string   "json:\"more,omitempty\""
	Required    bool     "json:\"required,omitempty\""
	File        bool     "json:\"file,omitempty\""
	OrText      bool     "json:\"or_text,omitempty\""
	Types       []string "json:\"types,omitempty\""
}

type Call struct {
	Template string   "json:\"template\""
	Params   []Param  "json:\"params,omitempty\""
	Body     *Body    "json:\"body,omitempty\""
	Accept   string   "json:\"accept,omitempty\""
	Tells    []string "json:\"tells,omitempty\""
}

type Discovery struct {
	Tools   []Tool
	Skipped []Skip
	Again   time.Duration
}

type Field struct {
	Arg           string       "json:\"arg\""
	Name          string       "json:\"name\""
	Required      bool         "json:\"required,omitempty\""
	File          bool         "json:\"file,omitempty\""
	OrText        bool         "json:\"or_text,omitempty\""
	Style         string       "json:\"style,omitempty\""
	Explode       bool         "json:\"explode,omitempty\""
	AllowReserved bool         "json:\"allow_reserved,omitempty\""
	ContentType   string       "json:\"content_type,omitempty\""
	Headers       []PartHeader "json:\"headers,omitempty\""
}

type Held struct {
	Member  string    "json:\"member\""
	Tools   []Tool    "json:\"-\""
	Before  []Tool    "json:\"-\""
	Packed  []byte    "json:\"packed,omitempty\""
	Were    []byte    "json:\"were,omitempty\""
	Gone    []string  "json:\"gone,omitempty\""
	More    int       "json:\"more,omitempty\""
	Digest  string    "json:\"digest,omitempty\""
	At      time.Time "json:\"at,omitzero\""
	Told    []string  "json:\"told,omitempty\""
	ToldAt  time.Time "json:\"told_at,omitzero\""
	First   string    "json:\"first,omitempty\""
	Changed bool      "json:\"changed,omitempty\""
	Version int64     "json:\"-\""
	carried
}

type Icon struct {
	Source string   "json:\"src\""
	Type   string   "json:\"mimeType,omitempty\""
	Sizes  []string "json:\"sizes,omitempty\""
	Theme  string   "json:\"theme,omitempty\""
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
	Usual   bool   "json:\"usual,omitempty\""
}

func SplitName(name string) (member string, tool string, ok bool)

type Tool struct {
	Name         string            "json:\"name\""
	Method       string            "json:\"httpMethod,omitempty\""
	Path         string            "json:\"path,omitempty\""
	Description  string            "json:\"description\""
	InputSchema  json.RawMessage   "json:\"inputSchema\""
	Call         *Call             "json:\"call,omitempty\""
	RemoteName   string            "json:\"remote_name,omitempty\""
	ReadOnly     bool              "json:\"read_only,omitempty\""
	RemoteArgs   map[string]string "json:\"remote_args,omitempty\""
	Title        string            "json:\"title,omitempty\""
	Annotations  *Annotations      "json:\"annotations,omitempty\""
	OutputSchema json.RawMessage   "json:\"outputSchema,omitempty\""
	Icons        []Icon            "json:\"icons,omitempty\""
	carried
}

func (Tool) ChangesNothing() bool

type carried = forward.Fields
