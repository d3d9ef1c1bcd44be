package stream

import (
	"context"
	"errors"
	"time"

	"github.com/keystile/keystile/storage/driver"
)

// Target keeps what is shipped. *Writer is one, and so is that of package gateway/stream/s3. A host
// implements it for a broker such as Kafka.
type Target interface {
	// Name says where batches go, and stays the same for as long as it is the same place: under it
	// the store keeps how far the streams have come there. It holds no secret.
	Name() string

	// Put returns nil when the target keeps the batch for good. After any error, and after a crash,
	// the same batch comes again, with the same Key and the same lines, before the next one does. The
	// Batch is only the target's until Put returns.
	Put(ctx context.Context, b Batch) error
}

// Batch holds consecutive lines of one stream.
type Batch struct {
	Stream string // Audit or Usage
	Key    string // such as audit/2026/03/01/17-000000000042-000000000099: no other batch has it
	Lines  []byte // JSON objects, a newline behind each
	Count  int    // of lines
}

// Names of the streams.
const (
	Audit = "audit"
	Usage = "usage"
)

// Config says where to a stream is shipped. Without a Target it is not.
type Config struct {
	Target   Target
	MaxBytes int           // of a batch: it ends with the line that reaches it; 0: 4 MiB
	MaxAge   time.Duration // how long a line may wait for others; 0: not at all
}

const (
	defaultBytes = 4 << 20
	mostBytes    = 64 << 20
	mostAge      = time.Hour
)

// On reports whether there is something to ship to.
func (c Config) On() bool { return c.Target != nil }

// Check completes a Config and returns what is wrong with it.
func (c *Config) Check() error {
	if !c.On() {
		return nil
	}
	if c.MaxBytes == 0 {
		c.MaxBytes = defaultBytes
	}
	switch {
	case c.MaxBytes < 0 || c.MaxBytes > mostBytes:
		return errors.New("stream: Config.MaxBytes is up to 64 MiB")
	case c.MaxAge < 0 || c.MaxAge > mostAge:
		return errors.New("stream: Config.MaxAge is up to an hour")
	case !driver.ValidName(c.name(Audit)):
		return errors.New("stream: the Name of the Target is not one: some bytes of UTF-8, at most 1,000")
	}
	return nil
}

// name returns what the position of a stream is kept under.
func (c Config) name(stream string) string { return stream + " " + c.Target.Name() }
