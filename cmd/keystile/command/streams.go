package command

import (
	"context"
	"io"
	"os/signal"
	"syscall"

	"github.com/keystile/keystile"
	"github.com/keystile/keystile/cmd/keystile/internal/config"
	"github.com/keystile/keystile/cmd/keystile/internal/metrics"
	"github.com/keystile/keystile/gateway/stream"
	"github.com/keystile/keystile/gateway/stream/s3"
)

// shipping holds the places that records are shipped to, beside the store. Its zero value has none.
type shipping struct {
	audit, usage stream.Config
	bucket       *s3.Target // nil: none
}

// shippingOf makes the targets of a configuration.
func shippingOf(c *config.Config, stdout io.Writer) (s shipping, err error) {
	to := map[string]stream.Config{}
	if c.Streams.To(config.StreamS3) {
		if s.bucket, err = s3.New(c.Streams.S3); err != nil {
			return s, err
		}
		to[config.StreamS3] = stream.Config{Target: s.bucket, MaxBytes: int(c.Streams.BatchSize), MaxAge: c.Streams.BatchAge}
	}
	if c.Streams.To(config.StreamStdout) {
		signal.Ignore(syscall.SIGPIPE) // who reads the records may end, and the service goes on
		to[config.StreamStdout] = stream.Config{Target: stream.NewWriter(config.StreamStdout, stdout)}
	}
	s.audit, s.usage = to[c.Streams.Audit], to[c.Streams.Usage]
	return s, nil
}

// give hands the targets to a service.
func (s shipping) give(c *keystile.Config) { c.Trail.Stream, c.Gateway.UsageStream = s.audit, s.usage }

// close closes the connections that nobody uses any more.
func (s shipping) close(ctx context.Context) {
	if s.bucket != nil {
		s.bucket.Close(ctx)
	}
}

// watchShipping adds how the streams are doing to the metrics.
func watchShipping(m *metrics.Metrics, service *keystile.Service) {
	for name, stats := range map[string]func() (stream.Stats, bool){
		stream.Audit: service.Trail.Shipping, stream.Usage: service.Gateway.Shipping,
	} {
		if _, on := stats(); !on {
			continue
		}
		now := func() stream.Stats { s, _ := stats(); return s }
		what := map[string]string{stream.Audit: "Audit records", stream.Usage: "Closed hours of usage"}[name]
		m.Gauge("keystile_stream_"+name+"_behind", what+" that the target of the stream does not have.",
			func() float64 { return float64(now().Behind) })
		m.Gauge("keystile_stream_"+name+"_behind_seconds", "How long the oldest of them waits.",
			func() float64 { return now().Age.Seconds() })
		m.Gauge("keystile_stream_"+name+"_failing", "1 while the target does not take what this node ships.", func() float64 {
			if now().Err != nil {
				return 1
			}
			return 0
		})
		m.Counter("keystile_stream_"+name+"_lines_total", "Lines that this node has shipped.",
			func() float64 { return float64(now().Lines) })
		m.Counter("keystile_stream_"+name+"_failures_total", "Attempts of this node to ship that failed.",
			func() float64 { return float64(now().Failed) })
	}
}
