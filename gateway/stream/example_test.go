package stream_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/keystile/keystile/gateway/stream"
)

// producer stands for the client of a broker. Its Send returns when the broker has stored a message.
type producer interface {
	Send(ctx context.Context, topic, key string, value []byte) error
}

// kafka is a Target that makes a message of each line. A batch that comes again makes the same messages
// again: consumers drop the ids they know, or the topic is compacted by key.
type kafka struct {
	producer
	cluster string
}

func (k kafka) Name() string { return "kafka " + k.cluster }

func (k kafka) Put(ctx context.Context, b stream.Batch) error {
	n := 0
	for line := range strings.Lines(string(b.Lines)) {
		n++
		// One key for all of a stream keeps them in one partition, and so in order.
		if err := k.Send(ctx, "keystile."+b.Stream, b.Stream, []byte(strings.TrimSuffix(line, "\n"))); err != nil {
			return fmt.Errorf("line %d of %s: %w", n, b.Key, err)
		}
	}
	return nil
}

// printed is a producer that prints.
type printed struct{}

func (printed) Send(_ context.Context, topic, key string, value []byte) error {
	fmt.Println(topic, key, string(value))
	return nil
}

// A Target for a broker is some lines around its client.
func ExampleTarget() {
	target := kafka{printed{}, "eu1"}
	// A host puts it into gateway.TrailConfig.Stream or gateway.Config.UsageStream: stream.Config{Target: target}.
	target.Put(context.Background(), stream.Batch{Stream: stream.Audit,
		Key: "audit/2026/03/01/17-000000000001-000000000001", Count: 1,
		Lines: []byte(`{"stream":"audit","seq":1,"id":"1-9f86d081884c7d65","kind":"audit.begin"}` + "\n")})
	// Output:
	// keystile.audit audit {"stream":"audit","seq":1,"id":"1-9f86d081884c7d65","kind":"audit.begin"}
}
