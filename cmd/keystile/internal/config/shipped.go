package config

import (
	"strings"
	"time"

	"github.com/keystile/keystile/gateway/stream/s3"
)

// Where a stream of records goes.
const (
	StreamOff    = "off"
	StreamStdout = "stdout"
	StreamS3     = "s3"
)

// Streams says where to records are shipped. It has nothing to do with limits.stream_idle, which is about
// connections.
type Streams struct {
	Audit, Usage string // StreamOff, StreamStdout or StreamS3
	BatchAge     time.Duration
	BatchSize    int64
	S3           s3.Config
}

// To reports whether a stream goes there.
func (s Streams) To(where string) bool { return s.Audit == where || s.Usage == where }

// checkShipped judges streams.*.
func (l *loader) checkShipped(c *Config) {
	s := &c.Streams
	if s.BatchAge > time.Hour {
		l.complain("streams.batch_age: %s is more than 1h", s.BatchAge)
	}
	if s.BatchSize > 64<<20 {
		l.complain("streams.batch_size: it must be at most 64MiB, because so much is held in memory")
	}
	switch given := s.S3.Bucket != "" || s.S3.AccessKey != "" || !s.S3.SecretKey.IsZero(); {
	case s.To(StreamS3):
		if err := s.S3.Check(); err != nil {
			for line := range strings.Lines(err.Error()) {
				l.complain("streams.s3.%s", strings.TrimSpace(line))
			}
		}
	case given:
		l.complain("streams.s3: it is set up, and neither streams.audit nor streams.usage is s3")
	}
}
