package stream

import (
	"context"
	"time"
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

// Stats says how a stream is doing.
type Stats struct {
	Stream string
	Behind uint64        // records, or hours of usage, that the target does not have
	Age    time.Duration // how long the oldest of them is there
	Lines  uint64        // that this process has shipped
	Failed uint64        // attempts of this process that failed
	Err    error         // why the last attempt failed; nil: it did not, or another process ships
}
