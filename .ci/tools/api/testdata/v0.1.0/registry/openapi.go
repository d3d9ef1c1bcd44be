package openapi // import "github.com/keystile/keystile/registry/openapi"

import "context"
import "github.com/keystile/keystile/storage/toolplan"

func Advise(ctx context.Context, document []byte, strict func(ctx context.Context, document []byte) []string) []string

const ErrcodeBadField = 4006

const ErrcodeBadMember = 4004

const ErrcodeBadUpstream = 4005

const ErrcodeEmpty = 4001

const ErrcodeNotOpenAPI = 4002

const ErrcodeTooMuch = 4003

type Options struct {
	Member        string
	ResolveRefs   bool
	Fixed         func(in string, name string) string
	MaxDocument   int
	MaxDepth      int
	MaxOperations int
	MaxHops       int
	MaxProperties int
	MaxSchema     int
	MaxTools      int
}

func Parse(ctx context.Context, document []byte, o Options) (*Result, error)

type Rejection struct {
	Errcode int
	Msg     string
	Skipped []toolplan.Skip
}

func (*Rejection) Error() string

type Result struct {
	Tools    []toolplan.Tool
	Skipped  []toolplan.Skip
	Version  string
	Advice   []string
	Title    string
	Server   string
	Pointers []string
}

func StaticTools(ctx context.Context, raw []byte, o Options) (*Result, error)
