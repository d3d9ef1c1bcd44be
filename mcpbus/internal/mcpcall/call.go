package mcpcall

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"unicode/utf8"

	"github.com/keystile/keystile/internal/callerhead"
	"github.com/keystile/keystile/internal/rawjson"
)

// maxArguments bounds the arguments of a call, in bytes.
const maxArguments = 4 << 20

// Call calls a tool by the upstream's name for it ([Found.Names]). Arguments are a JSON
// object of at most 4 MiB and 64 levels; nothing, or null, stands for {}. Refused arguments
// and failures are results; the only error is that ctx ended. Then the connection to the
// upstream is closed, and one of the legacy era gets notifications/cancelled.
func (c *Client) Call(ctx context.Context, to Upstream, name string, arguments json.RawMessage) (Result, error) {
	t, err := to.target()
	if err != nil {
		return failed(misconfigured(err)), nil
	}
	m, err := c.toolCall(name, arguments)
	if err != nil {
		return failed(failf("The call was not sent: %v.", err)), nil
	}
	m.onProgress, m.told = ProgressFunc(ctx), callerhead.From(ctx)
	p := c.peer(t)
	defer c.peers.release(p)
	timeout := cmp.Or(to.Timeout, c.config.CallTimeout)
	timed, cancel := context.WithTimeoutCause(ctx, timeout, errTimeout)
	defer cancel()
	r, err := c.call(timed, p, m)
	var result Result
	switch {
	case ctx.Err() != nil:
		return Result{}, context.Cause(ctx)
	case err != nil && timed.Err() != nil:
		result = failed(timedOut(timeout, err))
	case err != nil:
		result = failed(toFailure(err))
	case r.refused():
		result = failed(t.refusal(r))
	default:
		result = readResult(r.result)
	}
	if r != nil {
		result.Status, result.Bytes = r.status, r.bytes
	}
	result.Dispatched = true
	return result, nil
}

// toolCall returns the message of a call.
func (c *Client) toolCall(name string, arguments raw) (*message, error) {
	if len(name) > maxToolName || name == "" || !utf8.ValidString(name) {
		return nil, errors.New("the name of the tool must have 1 to 256 bytes of UTF-8")
	}
	if len(arguments) > maxArguments {
		return nil, errors.New("the arguments have more than 4 MiB")
	}
	if arguments = bytes.TrimSpace(arguments); len(arguments) == 0 || string(arguments) == "null" {
		arguments = raw("{}")
	}
	if err := rawjson.Check(arguments, rawjson.Limits{Depth: maxLevels, Once: true}); err != nil {
		return nil, fmt.Errorf("the arguments %w", err)
	}
	if arguments[0] != '{' {
		return nil, errors.New("the arguments must be an object")
	}
	m := c.message("tools/call", c.config.MaxAnswer)
	m.tool, m.arguments = name, arguments
	m.params = `"name":` + quote(name) + `,"arguments":` + string(arguments)
	return m, nil
}

// call sends a call, and sends it again if the upstream no longer knows our session and so has
// not executed it.
func (c *Client) call(ctx context.Context, p *peer, m *message) (*response, error) {
	l, _, err := c.connect(ctx, p, nil)
	if err != nil {
		return nil, err
	}
	r, err := c.send(ctx, p, l, m)
	if err == nil && r.refused() && l.era() == Legacy {
		fresh, err := c.renew(ctx, p, l, r)
		if err != nil {
			return nil, err
		}
		if fresh != nil {
			l, m.id = fresh, c.ids.Add(1)
			if r, err = c.send(ctx, p, l, m); err != nil {
				return nil, err
			}
		}
	}
	if err == nil && r.needsReconnect(l) {
		c.forget(p, l)
	}
	return r, err
}

func (c *Client) send(ctx context.Context, p *peer, l *link, m *message) (*response, error) {
	if l.era() == Legacy {
		r, err := c.exchange(ctx, p.target, l, m)
		if err != nil && ctx.Err() != nil {
			c.background.try(func(ctx context.Context) {
				c.exchange(ctx, p.target, l, &message{
					method: "notifications/cancelled",
					params: `"requestId":` + strconv.FormatInt(m.id, 10),
				})
			})
		}
		return r, err
	}
	var err error
	if m.header, err = p.mirror.Load().headers(m.tool, m.arguments); err != nil {
		return nil, err
	}
	return c.exchange(ctx, p.target, l, m)
}

// needsReconnect reports whether a refusal means that the upstream does not, or no longer, speak
// the link's revision.
func (r *response) needsReconnect(l *link) bool {
	switch {
	case !r.refused():
		return false
	case r.code() == codeNoVersion:
		return true
	case r.fromModern():
		return l.era() == Legacy
	case r.code() == codeBadParams && l.era() == Modern: // an unknown tool
		return false
	}
	return r.status == http.StatusBadRequest || r.status == http.StatusNotFound || r.status == http.StatusMethodNotAllowed
}
