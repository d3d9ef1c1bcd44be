package openapi

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/keystile/keystile/internal/toolschema"
	"github.com/keystile/keystile/internal/toolschema/tree"
	"github.com/keystile/keystile/storage/toolplan"
)

// Options control how documents become tools. The zero value is the default of every field.
type Options struct {
	Member      string // the capability; names are cut so that <Member>__<name> has at most 64 characters
	ResolveRefs bool   // nested references and structure are shown, where that stays small

	// Fixed says what of the upstream sets a parameter, such as "the URL" or "the credential", and "" if nothing does.
	// No argument is made of what is set: one that is required could never be given, and a model would be asked for a
	// key. in is path, query, header or cookie; fields of forms are asked for as query. nil: nothing is set.
	Fixed func(in, name string) string

	MaxDocument   int // bytes of the document; 0: 16 MiB
	MaxDepth      int // levels of arrays and objects in it; 0: 64
	MaxOperations int // 0: 2,000
	MaxHops       int // references that lead to references; 0: 16
	MaxProperties int // arguments of one tool; 0: 512
	MaxSchema     int // bytes of the input schema of one tool; 0: 64 KiB
	MaxTools      int // bytes of all tools together; 0: 16 MiB
}

// Limits of ResolveRefs for one tool. A tool that exceeds them is shown with its references.
const (
	resolveDepth = 4
	resolveNodes = 500
)

// maxMember is the length of a capability's name: 64 leaves 14 for the tool's.
const maxMember = 48

func (o Options) check() (Options, error) {
	var errs []error
	if len(o.Member) > maxMember {
		errs = append(errs, fmt.Errorf("openapi: Options.Member has %d characters, use at most %d", len(o.Member),
			maxMember))
	}
	for _, limit := range []struct {
		name string
		at   *int
		or   int
	}{
		{"MaxDocument", &o.MaxDocument, 16 << 20}, {"MaxDepth", &o.MaxDepth, 64},
		{"MaxOperations", &o.MaxOperations, 2000}, {"MaxHops", &o.MaxHops, 16},
		{"MaxProperties", &o.MaxProperties, 512}, {"MaxSchema", &o.MaxSchema, 64 << 10},
		{"MaxTools", &o.MaxTools, 16 << 20},
	} {
		if *limit.at < 0 {
			errs = append(errs, fmt.Errorf("openapi: Options.%s is %d, use a positive number, or 0 for %d", limit.name,
				*limit.at, limit.or))
		}
		*limit.at = cmp.Or(*limit.at, limit.or)
	}
	return o, errors.Join(errs...)
}

// Result holds the tools of a document.
type Result struct {
	Tools   []toolplan.Tool // in the order of the paths, bytewise, then get, post, put, delete, patch, query
	Skipped []toolplan.Skip // what was left out of them; last, what is usual
	Version string          // of OpenAPI, as the document says; "" for static tools
	Advice  []string        // what to know of the document, for its author
	Title   string          // of the document; "" if it has none
	Server  string          // URL of the first server that it names, maybe a relative one; calls do not go by it

	Pointers []string // where each of the Tools stands in the document, as JSON pointers
}

// Parse turns an OpenAPI 2.0, 3.0, 3.1 or 3.2 document into tools (protocol 4.8). The document is a
// JSON object, YAML 1.2 (RFC 9512), or a JSON string that holds either: what begins with a
// brace is JSON, and a line --- before it makes it YAML. The limits are those of the JSON
// that YAML stands for, and its tools are the same. A piece that cannot be read is left out
// and listed; the document is refused, by a *[Rejection], if no operation is left, if it is
// no OpenAPI document, or if it passes a limit. Other errors are those of the context and
// of the options.
//
// Parse is pure: nothing is fetched, nothing the document names is called, and the same
// document gives the same tools, in whatever order its keys stand.
func Parse(ctx context.Context, document []byte, o Options) (*Result, error) {
	o, err := o.check()
	if err != nil {
		return nil, err
	}
	d, err := open(ctx, document, o)
	if err != nil {
		return nil, err
	}
	return d.parse(ctx)
}

func (d *document) parse(ctx context.Context) (*Result, error) {
	o := d.options
	operations, err := d.operations(ctx)
	if err != nil {
		return nil, d.skips.attachTo(err)
	}
	root, _ := d.Root().Value.(tree.Object)
	r := &Result{Version: d.version, Title: titleOf(root), Server: serverOf(root)}
	size := 0
	for i, name := range newNamer(o.Member).names(operations, "operationId") {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		t, err := d.tool(operations[i], name)
		if d.steps > d.budget {
			return nil, d.skips.attachTo(limitf("the document takes more than %d steps to read: split it, or share fewer "+
				"large pieces between its operations", d.budget))
		}
		if err != nil {
			d.skips.add(operations[i].node, err.Error())
			continue
		}
		if size += sizeOf(t); size > o.MaxTools {
			return nil, d.skips.attachTo(limitf("the tools together have more than %d bytes: split the document", o.MaxTools))
		}
		r.Tools, r.Pointers = append(r.Tools, t), append(r.Pointers, operations[i].node.Pointer())
	}
	if len(r.Tools) == 0 {
		return nil, d.skips.attachTo(reject(ErrcodeEmpty, "the document has no operation that can become a tool: put get, "+
			"post, put, delete or patch under a path that starts with /"))
	}
	r.Skipped, r.Advice = d.skips.all(), adviceOn(d)
	return r, nil
}

// tool shows an operation with its references resolved if that is asked for and small
// enough, else without.
func (d *document) tool(op operation, name string) (toolplan.Tool, error) {
	limits := toolschema.Limits{Properties: d.options.MaxProperties, Bytes: d.options.MaxSchema}
	if d.options.ResolveRefs {
		limits.Depth, limits.Nodes = resolveDepth, resolveNodes
		t, err := d.build(op, name, limits)
		if err == nil {
			return t, nil
		}
		d.skips.add(op.node, "shown without its nested references: "+err.Error())
		limits.Depth = 0
	}
	return d.build(op, name, limits)
}

// sizeOf is about what a tool takes in storage.
func sizeOf(t toolplan.Tool) int {
	const braces = 64 // of one binding, with its keys
	n := len(t.Name) + len(t.Path) + len(t.Description) + len(t.InputSchema)
	if t.Call == nil {
		return n
	}
	n += len(t.Call.Template)
	for _, p := range t.Call.Params {
		n += len(p.Arg) + len(p.Name) + braces
	}
	if t.Call.Body != nil {
		for _, f := range t.Call.Body.Fields {
			n += len(f.Arg) + len(f.Name) + len(f.ContentType) + braces
			for _, h := range f.Headers {
				n += len(h.Name) + len(h.Value) + len(h.Arg) + braces
			}
		}
	}
	return n
}
