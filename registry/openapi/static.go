package openapi

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/keystile/keystile/internal/toolschema"
	"github.com/keystile/keystile/internal/toolschema/tree"
	"github.com/keystile/keystile/storage/toolplan"
)

// StaticTools turns the hand-filled list of tools_static into tools. An entry has name,
// httpMethod, path with :x, inputSchema (protocol 2.7), and perhaps description. One with a
// path is called by REST: the properties that the path names go there, the others to the
// query for get and delete, else to a JSON body. One without is called by its name at the
// upstream's MCP endpoint, so its name must be legal and free.
//
// Entries that cannot be used are left out and listed. The list is refused, by a
// *[Rejection], if none is left, if it is no list, or if it passes a limit.
func StaticTools(ctx context.Context, raw []byte, o Options) (*Result, error) {
	o, err := o.check()
	if err != nil {
		return nil, err
	}
	if len(raw) > o.MaxDocument {
		return nil, limitf("tools_static has more than %d bytes: split it into several capabilities", o.MaxDocument)
	}
	value, err := tree.Parse(string(raw), o.MaxDepth)
	entries, is := value.(tree.Array)
	switch {
	case err != nil || !is:
		return nil, reject(ErrcodeBadField, `tools_static is not a list: send [{"name","httpMethod","path","inputSchema"}]`)
	case len(entries) > o.MaxOperations:
		return nil, limitf("tools_static has more than %d entries: split it into several capabilities", o.MaxOperations)
	}
	d := staticList{&document{Document: toolschema.NewDocument(value, o.MaxHops), options: o}}
	read, err := d.entries(ctx, entries)
	if err != nil {
		return nil, err
	}
	r := &Result{}
	size := 0
	for _, e := range d.nameEntries(read) {
		t, err := d.entryTool(e)
		if err != nil {
			d.skips.add(e.node, err.Error())
			continue
		}
		if size += sizeOf(t); size > o.MaxTools {
			return nil, d.skips.attachTo(limitf("the tools together have more than %d bytes: split the list", o.MaxTools))
		}
		r.Tools, r.Pointers = append(r.Tools, t), append(r.Pointers, e.node.Pointer())
	}
	if len(r.Tools) == 0 {
		return nil, d.skips.attachTo(reject(ErrcodeEmpty,
			"tools_static has no entry that can become a tool: each needs a name, and httpMethod if it has a path"))
	}
	r.Skipped = d.skips.all()
	return r, nil
}

// staticList is a document that is a hand-filled list.
type staticList struct{ *document }

// entry is a tool as it was filled in. Its operation has no method and path if it is
// called by name.
type entry struct {
	operation
	tree.Object
	name  string
	input toolschema.Foreign
}

// entries reads those of the list that can be used.
func (d staticList) entries(ctx context.Context, list tree.Array) (out []entry, err error) {
	for i := range list {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		node := d.Root().At(i)
		e, why := readEntry(node)
		if why != "" {
			d.skips.add(node, why)
			continue
		}
		var schema json.RawMessage
		if v := e.Get("inputSchema"); v != nil {
			schema, _ = tree.Append(nil, v, d.options.MaxDocument)
		}
		if e.input, err = toolschema.Read(schema); err != nil {
			d.skips.add(node, err.Error())
			continue
		}
		out = append(out, e)
	}
	return out, nil
}

func readEntry(node toolschema.Node) (e entry, why string) {
	o, is := node.Value.(tree.Object)
	if !is {
		return e, "not a tool: an entry is an object with a name"
	}
	path, isText := o.Get("path").(string)
	method, _ := o.Get("httpMethod").(string)
	e = entry{Object: o, operation: operation{node: node, path: path, method: strings.ToLower(method)}}
	switch {
	case o.Get("path") == nil:
		if id := o.Text("name"); id == "" || clean(id, "_-") != id {
			return e, "a tool without a path is called by its name: give it one of letters, digits, _ and -, as the upstream " +
				"knows it"
		}
		e.method = ""
		return e, ""
	case !isText:
		return e, "the path is not a text"
	case !slices.Contains(methods, e.method):
		return e, "httpMethod is not get, post, put, delete, patch or query"
	case strings.ContainsAny(path, "{}"):
		return e, "the path has braces: write its parameters as :x"
	}
	return e, pathProblem(path)
}

// nameEntries gives the entries their names: those that are called by name have theirs or are
// left out, the others are named like operations.
func (d staticList) nameEntries(entries []entry) (out []entry) {
	n := newNamer(d.options.Member)
	for _, e := range entries {
		if e.path != "" {
			out = append(out, e)
			continue
		}
		id := e.Text("name")
		if len(id) > n.max {
			d.skips.add(e.node, fmt.Sprintf("the name has more than %d characters, and the upstream knows no shorter one",
				n.max))
			continue
		}
		if e.name = n.take(id); e.name == "" {
			d.skips.add(e.node, "another tool has this name")
			continue
		}
		out = append(out, e)
	}
	var ops []operation
	var at []int
	for i, e := range out {
		if e.path != "" {
			ops, at = append(ops, e.operation), append(at, i)
		}
	}
	for i, name := range n.names(ops, "name") {
		out[at[i]].name = name
	}
	return out
}

// listLeft lists what is left out of the input schema of an entry.
func (d staticList) listLeft(e entry, left []toolschema.Left) {
	for _, l := range left {
		d.skips.addSkip(toolplan.Skip{Pointer: toolschema.Text(e.node.Get("inputSchema").Pointer() + l.Pointer),
			Reason: toolschema.Text(l.Reason)})
	}
}

// entryTool binds the arguments of an entry.
func (d staticList) entryTool(e entry) (toolplan.Tool, error) {
	o := d.options
	t := toolplan.Tool{Name: e.name, Method: e.method, Path: strings.Clone(e.path),
		Description: toolschema.Text(e.Text("description"))}
	if e.path == "" {
		t.Description = strings.Clone(cmp.Or(t.Description, e.name))
		in, err := e.input.Import(o.MaxSchema)
		t.InputSchema, t.RemoteArgs = in.Schema, in.Known
		d.listLeft(e, in.Left)
		return t, err
	}
	names := make([]string, len(e.input.Input))
	for i, f := range e.input.Input {
		names[i] = f.Name
	}
	d.listLeft(e, e.input.Left)
	template, forgotten, err := colonsToBraces(e.path, names)
	if err == nil && forgotten != "" {
		err = fmt.Errorf("the path names %s, which is no property of inputSchema: declare it there",
			toolschema.Text(forgotten))
	}
	if err != nil {
		return toolplan.Tool{}, err
	}
	t.Description = strings.Clone(cmp.Or(t.Description, toolschema.Text(strings.ToUpper(e.method)+" "+e.path)))
	t.Call = &toolplan.Call{Template: template}
	p := plan{tool: t, rest: e.input.Rest()}
	inPath, inQuery := placeholders(template), e.method == "get" || e.method == "delete"
	body := &body{Body: toolplan.Body{ContentType: typeJSON}}
	for _, f := range e.input.Input {
		a := argument{Field: f}
		switch {
		case slices.Contains(inPath, f.Name):
			a.in, a.Required = "path", true
			p.params = append(p.params, a)
		case inQuery && d.fixedBy(template, "query", f.Name) != "":
			at := e.node.Get("inputSchema").Get("properties").Get(f.Name)
			d.skips.add(at, fixedReason("query", f.Name, d.fixedBy(template, "query", f.Name)))
		case inQuery:
			a.in, a.param.Explode = "query", true
			p.params = append(p.params, a)
		default:
			a.in = "body"
			body.Required = body.Required || f.Required
			body.args = append(body.args, a)
		}
	}
	if len(body.args) > 0 {
		p.body = body
	}
	return p.bind(o)
}

// maxColons bounds a path: each is compared with every property.
const maxColons = 64

// colonsToBraces writes the :x of a path as {x}, for each x of some names: the longest that
// fits and is not the beginning of another word, so that a name c leaves :cancel
// alone. Any other colon stays. One that begins a segment is returned with its name: there it can
// only be a parameter that was forgotten.
func colonsToBraces(path string, names []string) (template, forgotten string, err error) {
	if strings.Count(path, ":") > maxColons {
		return "", "", fmt.Errorf("the path has more than %d colons", maxColons)
	}
	var b strings.Builder
	for i := 0; i < len(path); i++ {
		if path[i] != ':' {
			b.WriteByte(path[i])
			continue
		}
		longest := ""
		for _, name := range names {
			rest, fits := strings.CutPrefix(path[i+1:], name)
			if fits && !wordContinues(rest) && len(name) > len(longest) && !strings.ContainsAny(name, "{}/") {
				longest = name
			}
		}
		switch {
		case longest != "":
			b.WriteString("{" + longest + "}")
			i += len(longest)
			continue
		case i > 0 && path[i-1] == '/' && forgotten == "":
			forgotten, _, _ = strings.Cut(path[i:], "/")
		}
		b.WriteByte(':')
	}
	return b.String(), forgotten, nil
}

func wordContinues(rest string) bool {
	return rest != "" && (alphanumeric(rune(rest[0])) || rest[0] == '_')
}
