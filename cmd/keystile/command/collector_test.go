package command

import (
	"encoding/hex"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	collectorpb "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// collector takes traces as a collector of OpenTelemetry does, by OTLP over HTTP.
type collector struct {
	*httptest.Server
	status int // of each answer; 0: 200

	mu      sync.Mutex
	bytes   []byte // all that was sent
	header  http.Header
	path    string
	service map[string]string // what the resource is called
	spans   []received
	asked   int
}

// received is one span.
type received struct {
	trace, id, parent, name string
	kind                    tracepb.Span_SpanKind
	attributes              map[string]string
	state                   string
}

func newCollector(t *testing.T) *collector {
	c := &collector{}
	c.Server = httptest.NewServer(c.handler(t))
	t.Cleanup(c.Close)
	return c
}

func (c *collector) handler(t *testing.T) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		var sent collectorpb.ExportTraceServiceRequest
		if err == nil {
			err = proto.Unmarshal(body, &sent)
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		c.asked++
		if err != nil || r.Header.Get("Content-Type") != "application/x-protobuf" {
			t.Errorf("the collector was sent %s of %d bytes: %v", r.Header.Get("Content-Type"), len(body), err)
		}
		if c.status != 0 {
			w.WriteHeader(c.status)
			return
		}
		c.bytes, c.header, c.path = append(c.bytes, body...), r.Header, r.URL.Path
		for _, resource := range sent.ResourceSpans {
			c.service = map[string]string{}
			for _, a := range resource.Resource.Attributes {
				c.service[a.Key] = a.Value.GetStringValue()
			}
			for _, scope := range resource.ScopeSpans {
				for _, s := range scope.Spans {
					c.spans = append(c.spans, read1(s))
				}
			}
		}
		w.Header().Set("Content-Type", "application/x-protobuf")
	}
}

func read1(s *tracepb.Span) received {
	r := received{
		trace: hex.EncodeToString(s.TraceId), id: hex.EncodeToString(s.SpanId), parent: hex.EncodeToString(s.ParentSpanId),
		name: s.Name, kind: s.Kind, attributes: map[string]string{}, state: s.TraceState,
	}
	for _, a := range s.Attributes {
		r.attributes[a.Key] = a.Value.GetStringValue()
	}
	return r
}

// all returns the spans that have arrived.
func (c *collector) all() []received {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.spans
}

// find returns the only span of a trace with a name and an attribute, which may be "".
func (c *collector) find(t *testing.T, trace, name, key, value string) (found received) {
	t.Helper()
	n := 0
	for _, s := range c.all() {
		if s.trace == trace && s.name == name && (key == "" || s.attributes[key] == value) {
			found = s
			n++
		}
	}
	if n != 1 {
		t.Fatalf("trace %s has %d spans %q with %s=%q", trace, n, name, key, value)
	}
	return found
}
