package openapi

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"unicode"

	"github.com/keystile/keystile/internal/toolschema"
	"github.com/keystile/keystile/internal/toolschema/tree"
	"github.com/keystile/keystile/storage/toolplan"
)

// parameter is an OpenAPI parameter whose reference has been followed.
type parameter struct {
	tree.Object
	node     toolschema.Node
	name, in string
	said     string // a description beside the reference to it
}

// parameters returns those of an operation and of its path item, the operation's in the
// place of those with the same name and place.
//
// Headers that the bus sets itself or that say who is calling, and cookies that an operation does without, are no
// arguments: see package restcall. A required cookie is an argument; the caller's own cookies never pass. Parameters
// that the query of upstream_url or the credential sets are no arguments either: a model would be asked for a key.
func (d *document) parameters(op operation, view *toolschema.Projection) (out []parameter) {
	at := map[[2]string]int{}
	for _, list := range []toolschema.Node{op.item.Get("parameters"), op.node.Get("parameters")} {
		first := len(out) // of this list: an operation may declare what its path declares
		items, is := list.Value.(tree.Array)
		if !is && list.Value != nil {
			d.skips.add(list, "not a list of parameters")
		}
		for i := range items {
			if !view.Step() {
				return out
			}
			p, why := d.parameter(list.At(i))
			if why != "" {
				d.skips.add(list.At(i), why)
				continue
			}
			key := [2]string{p.in, p.name}
			if p.in == "header" {
				key[1] = http.CanonicalHeaderKey(p.name)
			}
			if old, there := at[key]; there {
				if old >= first {
					d.skips.add(out[old].node, fmt.Sprintf("the %s parameter %q is there twice: the later one counts",
						p.in, p.name))
				}
				out[old] = p
				continue
			}
			at[key] = len(out)
			out = append(out, p)
		}
	}
	return out
}

func (d *document) parameter(n toolschema.Node) (p parameter, why string) {
	beside, _ := n.Value.(tree.Object)
	n, err := d.Follow(n)
	if err != nil {
		return p, err.Error()
	}
	v, is := n.Value.(tree.Object)
	if !is {
		return p, "not a parameter"
	}
	said := cmp.Or(beside.Text("description"), v.Text("description"))
	p = parameter{Object: v, node: n, name: v.Text("name"), in: v.Text("in"), said: said}
	switch {
	case p.name == "":
		return p, "a parameter without a name"
	case len(p.name) > maxPath:
		return p, "the name of a parameter is too long"
	case !slices.Contains([]string{"path", "query", "querystring", "header", "cookie", "body", "formData"}, p.in):
		return p, "a parameter that is in no place that is known"
	case (p.in == "header" || p.in == "cookie") && !isToken(p.name):
		return p, "the name of a " + p.in + " has characters that no " + p.in + " may have"
	case p.in != "body" && strings.ContainsFunc(p.name, unicode.IsControl):
		return p, "the name of a parameter has control characters"
	}
	return p, ""
}

// isToken reports a name that may stand in a header (RFC 9110 5.6.2).
func isToken(name string) bool {
	return !strings.ContainsFunc(name, func(r rune) bool {
		return !alphanumeric(r) && !strings.ContainsRune("!#$%&'*+-.^_`|~", r)
	})
}

// argument returns that of a path, query, header or cookie parameter. It is not ok if its
// schema cannot be read.
func (d *document) argument(p parameter, view *toolschema.Projection) (a argument, ok bool) {
	schema, json := d.schemaOf(p)
	a.Schema, ok = view.Schema(schema)
	a.Schema = toolschema.Described(a.Schema, p.said)
	a.Name, a.in, a.Required = p.name, p.in, p.in == "path" || p.True("required")
	a.param = toolplan.Param{JSON: json, AllowReserved: p.in == "path" && p.True("allowReserved")}
	if !json {
		a.param.Style, a.param.Explode = d.serialization(p)
	}
	return a, ok
}

// schemaOf returns the schema of a parameter, which OpenAPI 2.0 writes into the parameter
// itself, and whether the value is sent as JSON text.
func (d *document) schemaOf(p parameter) (schema toolschema.Node, json bool) {
	schema = p.node
	if _, there := p.Lookup("schema"); there {
		schema = p.node.Get("schema")
	} else if _, is := p.Get("content").(tree.Object); is {
		kind, media := d.choose(p.node.Get("content"))
		if media.Value == nil {
			return schema, false
		}
		schema, json = media.Get("schema"), isJSON(kind)
		if schema.Value == nil {
			schema.Value = true
		}
	}
	return d.resolveTop(schema), json
}

// resolveTop follows the reference of a schema at the top (protocol 4.8, rule 4, is about nested
// ones), and returns it as it is if that leads nowhere: it is then shown as unresolved.
func (d *document) resolveTop(schema toolschema.Node) toolschema.Node {
	target, err := d.Follow(schema)
	if err != nil {
		d.skips.add(schema, err.Error())
		return schema
	}
	return target
}
