package mcpbus

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/keystile/keystile/internal/callerhead"
	"github.com/keystile/keystile/internal/reqctx"
	"github.com/keystile/keystile/storage/lasthop"
)

// tellCaller returns the context of a call, in which its upstream is told of the caller what its capability says
// (decision 122).
func (c *toolCall) tellCaller() (context.Context, error) {
	switch to := c.tool.capability; to.Identity.Kind {
	case lasthop.Headers:
		return c.tellByHeaders()
	case lasthop.Signed:
		if c.bus.c.Signer == nil {
			return nil, errors.New("mcpbus: the identity of the capability is signed, and Config.Signer is missing")
		}
		upstream, err := url.Parse(to.UpstreamURL)
		if err != nil {
			return nil, fmt.Errorf("mcpbus: the upstream of a capability: %w", err)
		}
		ctx := c.request.Context()
		text, err := c.bus.c.Signer.SignCaller(ctx, c.caller, lasthop.Call{Audience: lasthop.Origin(upstream),
			Tool: c.tool.name, RequestID: reqctx.ID(ctx), Identity: to.Identity})
		return callerhead.With(c.ctx, callerhead.Statement(lasthop.Header, text)), err
	}
	return c.ctx, nil
}

// tellByHeaders names the caller in the headers that services behind the proxy get.
func (c *toolCall) tellByHeaders() (context.Context, error) {
	app, err := c.bus.tiers.of(c.request.Context(), c.caller.AppID)
	if err != nil {
		return nil, fmt.Errorf("mcpbus: the tier of an application cannot be read: %w", err)
	}
	told := http.Header{}
	for name, value := range map[string]string{"X-Keystile-Client": c.caller.AppID, "X-Keystile-User": c.caller.UserID,
		"X-Keystile-Scope": c.caller.Scope, "X-Keystile-Tier": app.TierAt(c.bus.c.Store.Later(time.Now()))} {
		if value != "" {
			told[name] = []string{value}
		}
	}
	return callerhead.With(c.ctx, callerhead.Told{Header: told}), nil
}
