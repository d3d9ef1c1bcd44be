package telemetry

import (
	"fmt"
	"math/rand/v2"

	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

// sampler decides which requests are recorded; the rest of a request's spans follow.
type sampler struct {
	share float64
	draw  func() float64 // 0 to 1, without 1
}

func newSampler(share float64) sampler { return sampler{share, rand.Float64} }

// ShouldSample implements sdk.Sampler. A parent elsewhere has no say, unless it is followed: the result does not
// depend on anything that a stranger chooses, the trace id included.
func (s sampler) ShouldSample(p sdk.SamplingParameters) sdk.SamplingResult {
	parent := trace.SpanContextFromContext(p.ParentContext)
	sampled := parent.IsSampled()
	if !parent.IsValid() || parent.IsRemote() && p.ParentContext.Value(followed{}) == nil {
		sampled = s.draw() < s.share
	}
	result := sdk.SamplingResult{Tracestate: parent.TraceState(), Decision: sdk.Drop}
	if sampled {
		result.Decision = sdk.RecordAndSample
	}
	return result
}

func (s sampler) Description() string { return fmt.Sprintf("share %v", s.share) }
