package mcpbus

import (
	"context"
	"strconv"

	"github.com/keystile/keystile/internal/span"
)

// beginSpan begins the span of a call, if its request is recorded, as the semantic conventions of OpenTelemetry
// for MCP have it.
func (x *exchange) beginSpan(t *tool) (context.Context, span.Span) {
	ctx, s := span.Start(x.request.Context(), span.Server, methodCall)
	if s.On() {
		s.Rename(methodCall + " " + t.name)
		s.Set("mcp.method.name", methodCall)
		s.Set("gen_ai.operation.name", "execute_tool")
		s.Set("gen_ai.tool.name", t.name)
		s.Set(span.ClientID, x.caller.AppID)
	}
	return ctx, s
}

// recordOutcome tells the span how the call ended, by the status of the audit trail.
func (c *toolCall) recordOutcome(status int) {
	if c.span.On() && status >= 400 {
		c.span.Fail(strconv.Itoa(status))
	}
}
