package openapi

import (
	"fmt"

	"github.com/keystile/keystile/internal/toolschema"
	"github.com/keystile/keystile/internal/toolschema/tree"
)

// adviceOn returns what the author of a registration should know of its document. None of it keeps tools from
// being made.
func adviceOn(d *document) []string {
	out := ownServers(d)
	if d.unexpanded > 0 {
		out = append(out, fmt.Sprintf("%d tools show nested parts of their arguments by name alone: "+
			"set resolve_refs to show what is in them", d.unexpanded))
	}
	return out
}

const (
	maxAdvice = 10  // lines about one thing
	maxURL    = 200 // bytes of the URL of a server
)

// ownServers names the paths and operations that a document says are elsewhere. Calls go to upstream_url all the
// same: where they go is not for a document to say.
func ownServers(d *document) (out []string) {
	all := d.Root().Get("paths")
	paths, _ := all.Value.(tree.Object)
	found := 0
	look := func(n toolschema.Node, what string) {
		servers, _ := n.Get("servers").Value.(tree.Array)
		if len(servers) == 0 {
			return
		}
		if found++; found > maxAdvice {
			return
		}
		first, _ := servers[0].(tree.Object)
		out = append(out,
			toolschema.Text(fmt.Sprintf("%s has servers of its own (%s): its tools call upstream_url all the same, "+
				"so register it as a capability of its own if it is elsewhere",
				what, first.Text("url")[:min(len(first.Text("url")), maxURL)])))
	}
	for _, m := range paths {
		item, err := d.Follow(all.Get(m.Key))
		members, is := item.Value.(tree.Object)
		if err != nil || !is {
			continue
		}
		look(item, fmt.Sprintf("the path %q", m.Key))
		for _, method := range methods {
			if _, there := members.Lookup(method); there {
				look(item.Get(method), fmt.Sprintf("the operation %s %q", method, m.Key))
			}
		}
	}
	if found > maxAdvice {
		out = append(out, fmt.Sprintf("%d more paths and operations have servers of their own", found-maxAdvice))
	}
	return out
}
