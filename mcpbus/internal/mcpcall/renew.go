package mcpcall

import (
	"context"
	"net/http"
)

// renew returns a new link if an upstream has refused a call because it does not know the session, as after a restart,
// and nil if it had another reason. Only a 404 says so (MCP 2025-11-25, Session Management). Many upstreams answer 400,
// or 200 with an error, as they also do to a call that they have executed. So the session is tried: it is
// unknown if a ping under it is refused in the same words, and one under a new session is not.
func (c *Client) renew(ctx context.Context, p *peer, l *link, r *response) (*link, error) {
	if r.status == http.StatusNotFound && l.session != "" {
		fresh, _, err := c.connect(ctx, p, l)
		return fresh, err
	}
	if !r.mayBeOfSession() {
		return nil, c.giveUp(ctx, p, l, r)
	}
	if same, err := c.pingRefusedLike(ctx, p, l, r); !same || err != nil {
		return nil, ctx.Err()
	}
	fresh, _, err := c.connect(ctx, p, l)
	if err != nil {
		return nil, ctx.Err() // the refusal of the call says more
	}
	if same, err := c.pingRefusedLike(ctx, p, fresh, r); same || err != nil {
		return nil, ctx.Err()
	}
	return fresh, nil
}

// giveUp forgets a session under which a ping is refused in the words of a call that is not repeated, because the
// upstream may be in trouble or may refuse the credential. The next call begins with a handshake then; without that a
// session that the upstream has lost would be kept for ever. An upstream that says to wait is not asked.
func (c *Client) giveUp(ctx context.Context, p *peer, l *link, r *response) error {
	if l.session == "" || r.isTemporary() {
		return nil
	}
	if same, err := c.pingRefusedLike(ctx, p, l, r); same && err == nil {
		c.forget(p, l)
	}
	return ctx.Err()
}

// mayBeOfSession reports a refusal that may be that of an unknown session: not one by the tool, about the credential,
// or of a server in trouble.
func (r *response) mayBeOfSession() bool {
	switch {
	case r.isFinalRefusal() || r.status >= 500:
		return false
	case r.status < 300:
		return r.code() != codeBadParams && r.code() != codeNoMethod
	}
	return true
}

// pingRefusedLike reports whether a ping is refused as a call was.
func (c *Client) pingRefusedLike(ctx context.Context, p *peer, l *link, r *response) (bool, error) {
	ping, err := c.exchange(ctx, p.target, l, c.message("ping", c.config.MaxAnswer))
	if err != nil || !ping.refused() || ping.status != r.status || (ping.fault == nil) != (r.fault == nil) {
		return false, err
	}
	return r.fault == nil || ping.fault.code == r.fault.code && ping.fault.message == r.fault.message, nil
}
