package mcpcall

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/keystile/keystile/storage/toolplan"
)

// Found is what an upstream lists.
type Found struct {
	Tools   []toolplan.Tool   // in the upstream's order; Call is nil
	Names   map[string]string // name of a tool -> the upstream's name for it
	Skipped []toolplan.Skip   // what of the list is no tool, by JSON pointers into all pages as one
	TTL     time.Duration     // after which to ask again: 30 s to 1 h
	Era     Era
	Version string // of MCP that is spoken
}

// Discover asks an upstream for all its tools. Several that ask at one time get what one
// of them has found. Its errors are *Failure, or say that ctx ended.
func (c *Client) Discover(ctx context.Context, to Upstream) (Found, error) {
	t, err := to.target()
	if err == nil && len(to.Member) > maxMember {
		err = errors.New("member must have at most 48 characters")
	}
	if err != nil {
		return Found{}, misconfigured(err)
	}
	for key := (flightKey{t.key, to.Member}); ; {
		f, mine := c.flights.join(key)
		if mine {
			defer c.flights.end(key, f)
			f.found, f.err = c.discover(ctx, t, to.Member)
			f.over = ctx.Err() == nil
			return f.found.clone(), f.err
		}
		select {
		case <-f.done:
		case <-ctx.Done():
			return Found{}, context.Cause(ctx)
		}
		if f.over { // else whoever asked went away
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

// pagesInBytes is how many of the largest pages a list may be in bytes.
const pagesInBytes = 4

// pages reads the whole list.
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
			return nil, failf("the upstream's list has more than %d pages: it must list less, or more on a page", c.config.MaxPages)
		case seen[cursor]:
			return nil, failf("the upstream's list never ends: it gives one cursor twice")
		}
		seen[cursor] = true
		if page, err = c.page(ctx, p.target, l, &cursor); err != nil {
			return nil, err
		}
	}
}

// first returns the first page. What is remembered of an upstream may no longer hold, and
// to list is harmless, so it is then found out anew.
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

// nextCursor reads where the next page begins. The empty string is a cursor since
// 2026-07-28; what older servers mean by it is the end.
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
