package openapi

import (
	"context"
	"slices"
	"strings"

	"github.com/keystile/keystile/internal/restcall"
	"github.com/keystile/keystile/internal/toolschema"
	"github.com/keystile/keystile/internal/toolschema/tree"
)

// operation is one method of one path: what becomes a tool.
type operation struct {
	method, path string
	template     string          // the path, with each placeholder as {name}
	slashed      []string        // placeholders whose values may have slashes
	item, node   toolschema.Node // the path item, with parameters for all of its methods, and the operation
}

// methods in the order of a path's tools (protocol 2.7), and query, which OpenAPI 3.2 adds. Their names are
// matched exactly.
var methods = []string{"get", "post", "put", "delete", "patch", "query"}

// maxPath bounds a path and the name of a parameter, which stand in request lines.
const maxPath = 2048

// HEAD, OPTIONS and TRACE make no tools, nor do the additionalOperations of OpenAPI 3.2. Its query does: it reads, and
// has a body. A path without a slash at its beginning gets one; one that has the form of a URL does not. An operation
// whose path has invisible characters is left out.
func (d *document) operations(ctx context.Context) ([]operation, error) {
	var out []operation
	all := d.Root().Get("paths")
	paths, is := all.Value.(tree.Object)
	if !is && all.Value != nil {
		d.skips.add(all, "not a list of paths")
	}
	for _, m := range paths {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		at := all.Get(m.Key)
		if strings.HasPrefix(m.Key, "x-") {
			continue
		}
		path := withLeadingSlash(paths, m.Key)
		template, slashed := tidyTemplate(path)
		if why := pathProblem(template); why != "" {
			d.skips.add(at, why)
			continue
		}
		item, err := d.Follow(at)
		if err != nil {
			d.skips.add(at, err.Error())
			continue
		}
		if _, is := item.Value.(tree.Object); !is {
			d.skips.add(at, "not a path item")
			continue
		}
		d.listOtherOperations(at, item)
		out = d.addPathItem(operation{path: path, template: template, slashed: slashed, item: item}, out)
		if len(out) > d.options.MaxOperations {
			return nil, limitf("the document has more than %d operations: split it into several capabilities",
				d.options.MaxOperations)
		}
	}
	d.others.listMore(all, &d.skips)
	d.listWebhooks()
	// for those that got a slash
	slices.SortStableFunc(out, func(a, b operation) int { return strings.Compare(a.path, b.path) })
	return out, nil
}

// withLeadingSlash returns a path with the slash that belongs at its beginning, which Advise reports.
// It is left as it is if it is no path, or if the one with a slash is there too.
func withLeadingSlash(paths tree.Object, path string) string {
	if path == "" || path[0] == '/' || strings.Contains(path, "://") {
		return path
	}
	if _, there := paths.Lookup("/" + path); there {
		return path
	}
	return "/" + path
}

// addPathItem appends the operations of a path item. All of them have the path that is given.
func (d *document) addPathItem(op operation, out []operation) []operation {
	members := op.item.Value.(tree.Object)
	unfit := restcall.CheckTemplate(op.template)
	for _, op.method = range methods {
		value, there := members.Lookup(op.method)
		if !there || op.method == "query" && d.two {
			continue
		}
		op.node = op.item.Get(op.method)
		if _, is := value.(tree.Object); !is {
			d.skips.add(op.node, "not an operation")
			continue
		}
		if unfit != nil {
			d.skips.add(op.node, unfit.Error())
			continue
		}
		out = append(out, op)
	}
	return out
}

// pathProblem returns why a path cannot be requested. Dot segments would leave the
// path of upstream_url.
func pathProblem(path string) string {
	switch {
	case !strings.HasPrefix(path, "/"):
		return "a path must start with /"
	case len(path) > maxPath:
		return "a path is too long"
	case strings.ContainsFunc(path, func(r rune) bool { return r < ' ' || r == 0x7f || r == '\\' }):
		return "a path must not have control characters or backslashes"
	case !toolschema.Visible(path):
		return "a path must not have characters that nobody sees"
	}
	for segment := range strings.SplitSeq(path, "/") {
		switch strings.ReplaceAll(strings.ToLower(segment), "%2e", ".") {
		case ".", "..":
			return "a path must not have dot segments"
		}
	}
	return ""
}
