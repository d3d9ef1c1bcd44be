package mcpcall

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/keystile/keystile/storage/toolplan"
)

// Found holds the tools of an upstream.
type Found struct {
	Tools   []toolplan.Tool   // in the upstream's order; Call is nil
	Names   map[string]string // name of a tool -> the upstream's name for it
	Skipped []toolplan.Skip   // entries that are left out, by JSON pointers into the joined pages
	TTL     time.Duration     // time until the next discovery: 30 s to 1 h
	Era     Era
	Version string // negotiated revision of MCP
}

// Discover lists all tools of an upstream. Concurrent calls share one discovery. Its errors are
// *Failure, or say that ctx ended.
func (c *Client) Discover(ctx context.Context, to Upstream) (Found, error) {
	t, err := to.target()
	if err == nil && len(to.Member) > maxMember {
		err = errors.New("member must have at most 48 characters")
	}
	if err != nil {
		return Found{}, misconfigured(err)
	}
	for key := (discoveryKey{t.key, to.Member}); ; {
		f, mine := c.discoveries.join(key)
		if mine {
			defer c.discoveries.end(key, f)
			f.found, f.err = c.discover(ctx, t, to.Member)
			f.over = ctx.Err() == nil
			return f.found.clone(), f.err
		}
		select {
		case <-f.done:
		case <-ctx.Done():
			return Found{}, context.Cause(ctx)
		}
		if f.over { // else its caller's ctx ended
			return f.found.clone(), f.err
		}
	}
}

func misconfigured(err error) *Failure {
	return failf("the upstream is not set up correctly: %v. Its owner must register it again", err)
}

func (f Found) clone() Found {
	f.Tools, f.Names, f.Skipped = slices.Clone(f.Tools), maps.Clone(f.Names), slices.Clone(f.Skipped)
	return f
}

func (c *Client) discover(ctx context.Context, t *target, member string) (Found, error) {
	p := c.peer(t)
	defer c.peers.release(p)
	timed, cancel := context.WithTimeoutCause(ctx, c.config.DiscoverTimeout, errTimeout)
	defer cancel()
	in := newIntake(c.config.MaxTools)
	l, err := c.pages(timed, p, in)
	switch {
	case ctx.Err() != nil:
		return Found{}, context.Cause(ctx)
	case err != nil && timed.Err() != nil:
		return Found{}, toFailure(errors.Join(errTimeout, err))
	case err != nil:
		return Found{}, toFailure(err)
	}
	found := in.found(member)
	found.Era, found.Version = l.era(), l.version
	if l.era() == Modern {
		p.mirror.Store(in.mirror)
	}
	return found, nil
}

// pagesInBytes bounds the size of a list, in pages of the maximum size.
const pagesInBytes = 4

// pages reads all pages of the list.
func (c *Client) pages(ctx context.Context, p *peer, in *intake) (*link, error) {
	l, page, err := c.first(ctx, p)
	if err != nil {
		return nil, err
	}
	size, seen := int64(0), map[string]bool{}
	for n := 1; ; n++ {
		if page.needsReconnect(l) {
			c.forget(p, l)
		}
		if page.refused() {
			return nil, p.target.refusal(page)
		}
		if size += page.bytes; size > pagesInBytes*c.config.MaxPage {
			return nil, failf("the upstream's list has more than %d bytes: it must list less", pagesInBytes*c.config.MaxPage)
		}
		if err := in.add(page.result); err != nil {
			return nil, err
		}
		cursor, more, err := nextCursor(page.result["nextCursor"], l)
		switch {
		case err != nil:
			return nil, err
		case !more:
			return l, nil
		case n == c.config.MaxPages:
			return nil, failf("the upstream's list has more than %d pages: it must list less, or more on a page",
				c.config.MaxPages)
		case seen[cursor]:
			return nil, failf("the upstream's list never ends: it gives one cursor twice")
		}
		seen[cursor] = true
		if page, err = c.page(ctx, p.target, l, &cursor); err != nil {
			return nil, err
		}
	}
}

// first returns the first page. If the cached link no longer works it connects again, because
// listing has no side effects.
func (c *Client) first(ctx context.Context, p *peer) (*link, *response, error) {
	for again := false; ; again = true {
		l, page, err := c.connect(ctx, p, nil)
		if err == nil && page == nil {
			page, err = c.page(ctx, p.target, l, nil)
		}
		if err != nil || again || !page.needsReconnect(l) {
			return l, page, err
		}
		c.forget(p, l)
	}
}

func (c *Client) page(ctx context.Context, t *target, l *link, cursor *string) (*response, error) {
	m := c.message("tools/list", c.config.MaxPage)
	if cursor != nil {
		m.params = `"cursor":` + quote(*cursor)
	}
	return c.exchange(ctx, t, l, m)
}

// nextCursor reads the cursor of the next page. The empty string is a cursor since 2026-07-28;
// from older servers it means the end of the list.
func nextCursor(v raw, l *link) (cursor string, more bool, err error) {
	if !present(v) {
		return "", false, nil
	}
	cursor, ok := stringOf(v)
	if !ok {
		return "", false, failf("the upstream's list has a nextCursor that is no text")
	}
	return cursor, cursor != "" || l.era() == Modern, nil
}
