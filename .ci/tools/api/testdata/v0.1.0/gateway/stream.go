package stream // import "github.com/keystile/keystile/gateway/stream"

import "context"
import "io"
import "time"

const Audit = "audit"

type Batch struct {
	Stream string
	Key    string
	Lines  []byte
	Count  int
}

type Config struct {
	Target   Target
	MaxBytes int
	MaxAge   time.Duration
}

func NewWriter(name string, w io.Writer) *Writer

type Stats struct {
	Stream string
	Behind uint64
	Age    time.Duration
	Lines  uint64
	Failed uint64
	Err    error
}

type Target interface {
	Name() string
	Put(ctx context.Context, b Batch) error
}

const Usage = "usage"

type Writer struct{ _ struct{} }

func (*Writer) Name() string
func (*Writer) Put(ctx context.Context, b Batch) error
