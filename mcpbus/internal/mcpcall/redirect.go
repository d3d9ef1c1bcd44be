package mcpcall

import (
	"context"
	"net/http"
	"net/url"
	"strings"

	"github.com/keystile/keystile/internal/netguard"
)

// roundTrip sends a message. One redirect is followed, of those that frameworks answer to a path that lacks a slash or
// has one too many: it is to the same origin, keeps the method (307, 308) and the query, and nothing was executed.
func (c *Client) roundTrip(ctx context.Context, t *target, l *link, m *message) (*http.Response, error) {
	resp, err := c.config.Transport.RoundTrip(t.post(ctx, l, m))
	if err != nil || resp.StatusCode != http.StatusTemporaryRedirect &&
		resp.StatusCode != http.StatusPermanentRedirect {
		return resp, err
	}
	to := t.slashApart(resp.Header.Get("Location"))
	if to == nil {
		return resp, nil
	}
	resp.Body.Close()
	again := t.post(ctx, l, m)
	again.URL = to
	return c.config.Transport.RoundTrip(again)
}

// slashApart returns where a redirect leads if only a slash at the end of the path is more or less, else nil.
func (t *target) slashApart(location string) *url.URL {
	to, err := t.url.Parse(location)
	if location == "" || err != nil || to.User != nil || to.Fragment != "" || to.RawQuery != t.url.RawQuery ||
		!strings.EqualFold(to.Scheme, t.url.Scheme) || !netguard.SameServer(to, &t.url) {
		return nil
	}
	longer, shorter := to.EscapedPath(), t.url.EscapedPath()
	if len(longer) < len(shorter) {
		longer, shorter = shorter, longer
	}
	if longer != shorter+"/" {
		return nil
	}
	out := t.url // with its own host, as it was checked
	out.Path, out.RawPath = to.Path, to.RawPath
	return &out
}
