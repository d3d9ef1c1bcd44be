package mcpcall

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/keystile/keystile/internal/rawjson"
)

// Era is one of the two ways to speak MCP.
type Era string

// The eras of MCP.
const (
	Modern Era = "modern" // 2026-07-28: every request stands alone
	Legacy Era = "legacy" // 2024-11-05 to 2025-11-25: a handshake, and perhaps a session
)

// connect returns the link to an upstream, and makes one if there is none. With a stale link,
// whose session the upstream no longer knows, it does a new handshake. If detecting the era has
// fetched the first page of the list, that is returned too.
func (c *Client) connect(ctx context.Context, p *peer, stale *link) (*link, *response, error) {
	known := func() *link {
		if l := p.link.Load(); l != stale {
			return l
		}
		return nil
	}
	if l := known(); l != nil {
		return l, nil, nil
	}
	select {
	case p.gate <- struct{}{}:
		defer func() { <-p.gate }()
	case <-ctx.Done():
		return nil, nil, ctx.Err()
	}
	if l := known(); l != nil { // another call has connected meanwhile
		return l, nil, nil
	}
	p.link.Store(nil)
	var first *response
	offer := legacy[0]
	if stale == nil {
		var err error
		first, offer, err = c.probe(ctx, p.target)
		if err != nil {
			return nil, nil, err
		}
		if offer == "" {
			l := &link{version: modern}
			p.link.Store(l)
			return l, first, nil
		}
	}
	l, err := c.initialize(ctx, p.target, offer, first)
	if err != nil {
		return nil, nil, err
	}
	p.link.Store(l)
	return l, nil, nil
}

// probe requests the first page of the list as the modern revision does. If err is nil, offer is
// the revision to offer in the handshake, or "" if the upstream is modern and r is that page.
func (c *Client) probe(ctx context.Context, t *target) (r *response, offer string, err error) {
	r, err = c.page(ctx, t, &link{version: modern}, nil)
	switch {
	case errors.Is(err, errNoMCP):
		return &response{trouble: err}, legacy[0], nil
	case err != nil:
		return nil, "", err
	case r.result["resultType"] != nil:
		return r, "", nil
	case r.isFinalRefusal():
		return nil, "", t.refusal(r)
	case r.code() == codeNoVersion:
		offer = newestCommon(r.fault.data["supported"])
		if offer == "" {
			return nil, "", failf("the upstream speaks no version of MCP that is known here: %s, %s", modern,
				strings.Join(legacy, ", "))
		}
		return r, offer, nil
	}
	return r, legacy[0], nil
}

// isFinalRefusal reports a refusal that a handshake cannot resolve.
func (r *response) isFinalRefusal() bool {
	if !r.refused() {
		return false
	}
	if r.status == http.StatusUnauthorized || r.status == http.StatusForbidden || r.isTemporary() {
		return true
	}
	return r.status < 200 || 300 <= r.status && r.status < 400 || r.fromModern()
}

// isTemporary reports an answer that says to wait.
func (r *response) isTemporary() bool {
	switch r.status {
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout,
		http.StatusLoopDetected:
		return true
	}
	return false
}

// newestCommon returns the newest legacy revision in a list of those an upstream supports; the
// newest of all if there is no list, and "" if they have none in common.
func newestCommon(supported raw) string {
	if len(supported) == 0 || supported[0] != '[' {
		return legacy[0]
	}
	best := ""
	for v := range rawjson.Elements(supported) {
		if s, _ := stringOf(v); slices.Contains(legacy, s) {
			best = max(best, s) // they are dates
		}
	}
	return best
}

// initialize does the handshake (MCP 2025-11-25, Lifecycle). The response to a modern request
// before it serves only for error messages.
func (c *Client) initialize(ctx context.Context, t *target, offer string, before *response) (*link, error) {
	m := c.message("initialize", c.config.MaxAnswer)
	m.params = `"protocolVersion":"` + offer + `","capabilities":{},"clientInfo":` + clientInfo
	r, err := c.exchange(ctx, t, &link{}, m)
	if err != nil {
		return nil, err
	}
	if r.refused() {
		return nil, t.noHandshake(before, r)
	}
	version, _ := stringOf(r.result["protocolVersion"])
	l := &link{version: version, session: r.session}
	if !validSession(l.session) {
		return nil, failf("the upstream gives out a session id that cannot be sent back")
	}
	if !slices.Contains(legacy, version) {
		c.background.try(func(ctx context.Context) { c.endSession(ctx, t, l) })
		return nil, failf("the upstream speaks a version of MCP that is not known here: known are %s, %s", modern,
			strings.Join(legacy, ", "))
	}
	// The answer does not matter: the next request fails if the upstream refused.
	if _, err := c.exchange(ctx, t, l, &message{method: "notifications/initialized"}); err != nil {
		c.background.try(func(ctx context.Context) { c.endSession(ctx, t, l) })
		return nil, err
	}
	return l, nil
}

// noHandshake returns the error of a refused handshake. Before it, an upstream of unknown era
// has refused a request of the modern era.
func (t *target) noHandshake(before, r *response) error {
	switch {
	case before == nil || r.isFinalRefusal():
		return t.refusal(r)
	case before.trouble != nil:
		return before.trouble
	case before.refused():
		return failf("the upstream speaks neither MCP %s (%s) nor an older version (%s): check that its URL is that of an "+
			"MCP endpoint", modern, before.summary(), r.summary())
	}
	return t.refusal(r)
}

// maxSession bounds a session id, in bytes.
const maxSession = 1024

// validSession reports whether a session id is empty or visible ASCII, as the protocol demands.
func validSession(id string) bool {
	return len(id) <= maxSession && !strings.ContainsFunc(id, func(r rune) bool { return r <= ' ' || r > '~' })
}

// endSession ends a session at an upstream. A failure is ignored: the session expires.
func (c *Client) endSession(ctx context.Context, t *target, l *link) {
	if l.session == "" {
		return
	}
	if resp, err := c.config.Transport.RoundTrip(t.request(ctx, http.MethodDelete, l)); err == nil {
		resp.Body.Close()
	}
}

func (c *Client) message(method string, limit int64) *message {
	return &message{id: c.ids.Add(1), method: method, limit: limit}
}

// summary describes a refusal without the upstream's own words.
func (r *response) summary() string {
	if r.fault != nil {
		return fmt.Sprintf("error %d", r.fault.code)
	}
	return strings.TrimSpace(fmt.Sprintf("HTTP %d %s", r.status, http.StatusText(r.status)))
}
