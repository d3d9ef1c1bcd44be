package registry

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/keystile/keystile/internal/reply"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/toolplan"
)

// maxRemoved bounds how many tools a refusal names.
const maxRemoved = 20

// wouldRemove returns the refusal of a registration with Request.KeepTools that would remove tools.
//
// These are the stored tools that are not among the new ones. For an MCP endpoint at another address the new ones are
// those that it lists within five seconds; tools that the same endpoint no longer lists do not count as removed by the
// registration.
func wouldRemove(names []string) error {
	text := strings.Join(names[:min(len(names), maxRemoved)], ", ")
	if more := len(names) - maxRemoved; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return &reply.Failure{Status: http.StatusConflict,
		Msg: fmt.Sprintf("this would remove %d of the tools that are there, "+
			"and nothing is stored: %s. If that is meant, say so (--replace at the command line, the box in the "+
			"console); "+
			"to change a label, a credential or a timeout, update the capability", len(names), text)}
}

// toolsBefore returns the names of the tools that a registration replaces. Tools that cannot be read hold up no
// registration but one that is to keep them.
func (g *Registry) toolsBefore(ctx context.Context, q Request, p storage.Place) ([]string, error) {
	tools, err := g.c.Store.ToolsAt(ctx, p)
	if err != nil {
		if q.KeepTools {
			return nil, err
		}
		return nil, nil
	}
	names := make([]string, len(tools))
	for i, t := range tools {
		names[i] = t.Name
	}
	return names, nil
}

// missing returns the names that are not among the tools, sorted.
func missing(names []string, tools []toolplan.Tool) (out []string) {
	there := make(map[string]bool, len(tools))
	for _, t := range tools {
		there[t.Name] = true
	}
	for _, name := range names {
		if !there[name] {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

// asksSame reports whether a registration has the tools listed by the MCP endpoint that lists them now. The
// registration does not remove the tools that the endpoint no longer lists.
func (q Request) asksSame(there storage.Capability) bool {
	return q.kind() == storage.CapabilityMCP && there.AutoDiscover() && there.UpstreamURL == q.UpstreamURL
}

// checkKeepsTools refuses a registration of an MCP endpoint that does not list all the tools that are there, if the
// request wants that. An endpoint that does not answer lists none.
func (g *Registry) checkKeepsTools(ctx context.Context, q Request, p storage.Place, there storage.Capability) error {
	if !q.KeepTools || q.kind() != storage.CapabilityMCP || q.asksSame(there) {
		return nil
	}
	before, err := g.toolsBefore(ctx, q, p)
	if err != nil || len(before) == 0 {
		return err
	}
	var found toolplan.Discovery
	if g.c.Discoverer != nil {
		g.reading.End(ctx)
		if found, err = g.discover(ctx, q.applyTo(there, nil)); err != nil {
			g.c.Log.InfoContext(ctx, "discovery failed", "member", q.Member, "err", withoutURL(err))
		}
	}
	if removed := missing(before, found.Tools); len(removed) > 0 {
		return wouldRemove(removed)
	}
	return nil
}

// removedBy returns the tools that a registration removes.
func (q Request) removedBy(done Registered, there storage.Capability, before []string) []string {
	if len(done.Tools) == 0 && q.asksSame(there) {
		return nil // it is asked again
	}
	return missing(before, done.Tools)
}
