package registry

import (
	"context"
	"regexp"
	"slices"
	"strings"

	"github.com/keystile/keystile/internal/restcall"
	"github.com/keystile/keystile/internal/toolschema"
	"github.com/keystile/keystile/internal/toolschema/tree"
)

// operation is one method of one path: what becomes a tool.
type operation struct {
	method, path string
	item, node   toolschema.Node // the path item, with parameters for all of its methods, and the operation
}

// methods in the order of a path's tools (protocol 2.7). Their names are matched exactly.
var methods = []string{"get", "post", "put", "delete", "patch"}

// maxPath bounds a path and the name of a parameter, which stand in request lines.
const maxPath = 2048

func (d *document) operations(ctx context.Context) ([]operation, error) {
	var out []operation
	all := d.Root().Get("paths")
	paths, _ := all.Value.(tree.Object)
	for _, m := range paths {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		at := all.Get(m.Key)
		if strings.HasPrefix(m.Key, "x-") {
			continue
		}
		path := withLeadingSlash(paths, m.Key)
		if why := pathProblem(path); why != "" {
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
		out = d.addPathItem(item, path, out)
		if len(out) > d.options.MaxOperations {
			return nil, limitf("the document has more than %d operations: split it into several capabilities", d.options.MaxOperations)
		}
	}
	slices.SortStableFunc(out, func(a, b operation) int { return strings.Compare(a.path, b.path) }) // for those that got a slash
	return out, nil
}

// withLeadingSlash returns a path with the slash that belongs at its beginning, which Lint tells of.
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

// addPathItem appends the operations of a path item.
func (d *document) addPathItem(item toolschema.Node, path string, out []operation) []operation {
	members := item.Value.(tree.Object)
	unfit := restcall.CheckTemplate(path)
	for _, method := range methods {
		value, there := members.Lookup(method)
		if !there {
			continue
		}
		node := item.Get(method)
		if _, is := value.(tree.Object); !is {
			d.skips.add(node, "not an operation")
			continue
		}
		if unfit != nil {
			d.skips.add(node, unfit.Error())
			continue
		}
		out = append(out, operation{method: method, path: path, item: item, node: node})
	}
	return out
}

// pathProblem says why a path cannot stand in a request. Dot segments would leave the
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

var (
	placeholder = regexp.MustCompile(`\{([^{}]+)\}`)
	expansion   = regexp.MustCompile(`\{[?&#][^{}]*\}`)
)

// plainTemplate is a path without what some documents append to it: the queries
// of RFC 6570, whose names are declared as parameters too.
func plainTemplate(path string) string {
	if !strings.ContainsAny(path, "?&#") {
		return path
	}
	return expansion.ReplaceAllString(path, "")
}

// placeholders returns the names in the braces of a template, each once, in their order.
// Behind ? and # and across segments braces are no placeholders: a request has no place
// there that an argument could fill.
func placeholders(template string) (names []string) {
	template = plainTemplate(template)
	if i := strings.IndexAny(template, "?#"); i >= 0 {
		template = template[:i]
	}
	for _, m := range placeholder.FindAllStringSubmatch(template, -1) {
		if !strings.Contains(m[1], "/") && !slices.Contains(names, m[1]) {
			names = append(names, m[1])
		}
	}
	return names
}

// publicPath writes {x} as :x (protocol 4.8, rule 2).
func publicPath(template string) string {
	return placeholder.ReplaceAllString(template, ":$1")
}
