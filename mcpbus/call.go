package mcpbus

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"runtime/debug"
	"time"

	"github.com/keystile/keystile/internal/reqctx"
	"github.com/keystile/keystile/internal/span"
	"github.com/keystile/keystile/mcpbus/internal/mcpcall"
	"github.com/keystile/keystile/mcpbus/internal/rpc"
	"github.com/keystile/keystile/storage/event"
)

// product names the product that calls are charged to (protocol 2.6).
const product = "mcp"

// Statuses in the audit record of a call that got none from its upstream.
const (
	statusRefused    = http.StatusBadRequest
	statusBusy       = http.StatusTooManyRequests
	statusClientGone = 499 // as nginx has it
	statusBroken     = http.StatusInternalServerError
	statusNotCharged = http.StatusServiceUnavailable
	statusNoAnswer   = http.StatusBadGateway
)

// toolCall holds one call of a tool.
type toolCall struct {
	*exchange
	tool  *tool
	start time.Time
	ctx   context.Context // canceled when the client disconnects or cancels the call
	span  span.Span
	heads map[string]string // of the upstream's answer; see metaAnswer
}

// call handles tools/call (protocol 4.9).
func (x *exchange) call(m *rpc.Message) (pieces, *rpc.Error) {
	name, ok := m.Params.Text("name")
	if !ok {
		return nil, noName
	}
	arguments := m.Params.Get("arguments")
	switch {
	case string(arguments) == "null":
		arguments = nil
	case arguments != nil && arguments[0] != '{':
		return nil, badArgs
	}
	t := x.findTool(name)
	if t == nil {
		return nil, noTool
	}
	return x.callTool(t, func(c *toolCall) (pieces, *rpc.Error) { return c.dispatchTracked(m, arguments) })
}

// dispatchTracked dispatches the call so that its client can cancel it and gets progress
// notifications, as far as the client supports either.
func (c *toolCall) dispatchTracked(m *rpc.Message, arguments json.RawMessage) (pieces, *rpc.Error) {
	key, cancels := c.callKey(m.ID)
	token := c.progressToken(m)
	if !cancels && token == nil {
		return c.dispatch(arguments)
	}
	ctx, end := context.WithCancelCause(c.ctx)
	defer end(nil)
	c.ctx = ctx
	if cancels {
		s := &canceller{end}
		c.bus.cancellable.add(key, s)
		defer c.bus.cancellable.remove(key, s)
	}
	if token != nil {
		c.progress = c.newProgressReporter(m, token, end)
		defer c.progress.stop()
		c.ctx = mcpcall.WithProgress(ctx, c.progress.upstreamProgress)
	}
	return c.dispatch(arguments)
}

// findTool returns a tool by its name, or by that which it has in lists, nil if the caller may not use it: the answer
// is then the same as for a tool that does not exist. If only the token's scope is missing, missingScope is set.
func (x *exchange) findTool(name string) *tool {
	s := x.snapshot
	i, there := s.index[name]
	if !there {
		i, there = s.short[name]
	}
	if !there || !s.mayUse(&x.who, i) || x.address.bundle != "" && !s.bundles[x.address.bundle].has(i) {
		return nil
	}
	t := s.tools[i]
	if visible := x.bus.c.Visible; visible != nil && !visible(x.caller, *t.capability, t.stored) {
		return nil
	}
	if !x.openedTools.covers(s, i) {
		x.missingScope = t
		return nil
	}
	return t
}

// callerKey identifies the caller in limits: a user of an application, or an application itself.
func (x *exchange) callerKey() string { return x.caller.AppID + " " + x.caller.UserID }

// dispatch makes the call. A call that was sent to the upstream is charged even if the client
// has disconnected: otherwise hanging up would be a way not to pay.
func (c *toolCall) dispatch(arguments json.RawMessage) (pieces, *rpc.Error) {
	r, err := c.invoke(arguments)
	ctx, log := c.request.Context(), c.bus.c.Log
	gone := err != nil && c.ctx.Err() != nil
	var body []byte
	if err == nil {
		body, err = c.encode(r)
	}
	switch {
	case gone:
		if err := c.charge(arguments, true); err != nil {
			log.ErrorContext(ctx, "mcpbus: a call whose client went away cannot be charged", "tool", c.tool.name, "err", err)
		}
		c.note(statusClientGone, 0)
		if errors.Is(context.Cause(c.ctx), errCancelled) {
			return nil, cancelled
		}
		return nil, goneClient
	case err != nil:
		log.ErrorContext(ctx, "mcpbus: a call failed", "tool", c.tool.name, "err", err)
		c.note(statusBroken, 0)
		return nil, internal
	case !r.Dispatched:
		return c.finish(body, statusRefused), nil
	}
	status := r.Status
	if status == 0 {
		status = statusNoAnswer
		log.InfoContext(ctx, "mcpbus: an upstream did not answer", "tool", c.tool.name, "err", r.Cause)
	}
	if err := c.charge(arguments, status >= 500); err != nil {
		log.ErrorContext(ctx, "mcpbus: a call cannot be charged, and its result is not shown", "tool", c.tool.name, "err",
			err)
		c.note(statusNotCharged, 0)
		return nil, notCharged
	}
	return c.finish(body, status), nil
}

// finish returns a result with its _meta, which holds the quota that is left after the call, and
// records the call.
func (c *toolCall) finish(body []byte, status int) pieces {
	out := pieces{body, append(c.appendMeta(nil, c.heads), '}')}
	c.note(status, out.size())
	return out
}

// invoke calls the tool. It turns a panic into the error of this call.
func (c *toolCall) invoke(arguments json.RawMessage) (r Result, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	ctx, err := c.tellCaller()
	if err != nil {
		return r, err
	}
	if r, err = c.bus.c.Invoker.Call(ctx, *c.tool.capability, c.tool.stored, arguments); r.IsError {
		c.span.Fail("tool_error")
	}
	c.heads = r.Headers
	return r, err
}

// respondBusy returns the result of a call that exceeds a concurrency limit.
func (c *toolCall) respondBusy(why string) (pieces, *rpc.Error) {
	body, _ := c.encode(textError(why)) // encoding a text never fails
	return c.finish(body, statusBusy), nil
}

// charge charges a call once its result has arrived and before it is sent, also if the client has disconnected:
// otherwise hanging up would be a way not to pay.
func (c *toolCall) charge(arguments json.RawMessage, failed bool) error {
	return c.bus.c.Meter.ChargeOnce(c.request.Context(), c.caller, product, c.tool.name, arguments,
		max(1, time.Since(c.start)), failed)
}

// note records the call in the audit trail.
func (c *toolCall) note(status, bytes int) {
	c.recordOutcome(status)
	event := reqctx.Event(c.request, event.ToolCall, c.bus.c.ClientIP(c.request))
	event.At, event.Latency = c.start, time.Since(c.start)
	reqctx.By(&event, &c.caller)
	event.Product, event.Detail, event.Status, event.Bytes = product, c.tool.name, status, int64(bytes)
	c.bus.c.Audit.Note(event)
}
