package mcpbus

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/keystile/keystile/internal/hop"
	"github.com/keystile/keystile/internal/rawjson"
	"github.com/keystile/keystile/internal/reply"
	"github.com/keystile/keystile/internal/span"
	"github.com/keystile/keystile/mcpbus/internal/rpc"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/toolplan"
)

// Reasons why a call that a host makes for a caller is refused.
var (
	// protocol 7
	noToolFor = &reply.Failure{Status: 404,
		Msg: "there is no such tool on the bus, or its access rules keep it from you"}
	// RFC 6750 3.1
	noScopeFor = &reply.Failure{Status: 403, Msg: "this caller's scope does not open the tool"}
	// protocol 7
	badArgsFor = &reply.Failure{Status: 400,
		Msg: "arguments is a JSON object, each name of which is there once, nested at most 100 deep"}
	// RFC 9110 15.6.4
	notChargedFor = &reply.Failure{Status: 503, Msg: notCharged.Text, Header: http.Header{"Retry-After": {"1"}}}
	// protocol 7
	failedFor = &reply.Failure{Status: 500,
		Msg: "something failed here: try again, and look in the log of the service for the time of this call"}
)

// CallFor calls a tool by its full name for a caller whom the host has identified, such as a person
// in a console, and returns the result as tools/call of the newest revision has it. The call obeys
// the access rules and the caller's scope and limits, is charged to the caller and recorded, as any
// other. An upstream's failure is a result with isError; the errors are those of a request.
func (b *Bus) CallFor(r *http.Request, caller storage.Caller, name string,
	arguments json.RawMessage) (json.RawMessage, error) {
	if arguments != nil {
		if rawjson.Check(arguments, rawjson.Limits{Depth: 100, Once: true}) != nil || !isObject(arguments) ||
			len(arguments) > maxBody {
			return nil, badArgsFor
		}
		arguments = rawjson.Trim(arguments)
	}
	ctx, ok := hop.Arrive(r.Context(), r.Header, b.self)
	if !ok {
		return nil, loopDetected
	}
	x := &exchange{bus: b, request: r.WithContext(span.Arrive(ctx, r.Header)), caller: caller, address: &b.root,
		modern: true}
	if x.openedTools, ok = b.root.openedBy(caller); !ok {
		return nil, noScopeFor
	}
	if err := x.loadSnapshot(); err != nil {
		return nil, err
	}
	t := x.findTool(name)
	switch {
	case x.missingScope != nil:
		return nil, noScopeFor
	case t == nil:
		return nil, noToolFor
	}
	out, wrong := x.callTool(t, func(c *toolCall) (pieces, *rpc.Error) { return c.dispatch(arguments) })
	switch wrong {
	case nil:
		return bytes.Join(out, nil), nil
	case notCharged:
		return nil, notChargedFor
	case goneClient:
		return nil, context.Cause(ctx)
	}
	return nil, failedFor
}

// ToolsOf returns the tools of a capability that are on the bus now, including those that its
// upstream lists by itself, without asking who may use them. The caller must not change them.
func (b *Bus) ToolsOf(member string) (tools []toolplan.Tool) {
	s := b.snapshot.Load()
	if a := s.access[member]; a != nil {
		for _, t := range s.tools[a.lo:a.hi] {
			tools = append(tools, t.stored)
		}
	}
	return tools
}

// callTool makes a call within the limits of calls under way.
func (x *exchange) callTool(t *tool, do func(*toolCall) (pieces, *rpc.Error)) (pieces, *rpc.Error) {
	ctx, recorded := x.beginSpan(t)
	defer recorded.End()
	c := &toolCall{exchange: x, tool: t, start: time.Now(), ctx: ctx, span: recorded}
	key := x.callerKey()
	if !x.bus.callers.acquire(key) {
		return c.respondBusy(fmt.Sprintf(busyCaller, x.bus.c.PerCaller))
	}
	defer x.bus.callers.release(key)
	if !x.bus.upstreams.acquire(t.upstream) {
		return c.respondBusy(busyUpstream)
	}
	defer x.bus.upstreams.release(t.upstream)
	return do(c)
}
