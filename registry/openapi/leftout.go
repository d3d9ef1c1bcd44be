package openapi

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/keystile/keystile/internal/restcall"
	"github.com/keystile/keystile/internal/toolschema"
	"github.com/keystile/keystile/internal/toolschema/tree"
)

// This file lists the parts of a document of which no tool is made, so that a document need not be compared with its
// tools to learn what is missing.

// notOperations are the members of a path item that are no operations.
var notOperations = []string{"$ref", "summary", "description", "servers", "parameters", "additionalOperations"}

// listOtherOperations lists the operations of a path item whose methods make no tools, and those that stand beside a
// reference to another path item, which counts instead.
func (d *document) listOtherOperations(at, item toolschema.Node) {
	members, _ := item.Value.(tree.Object)
	for _, m := range members {
		switch {
		case slices.Contains(methods, m.Key) && !(m.Key == "query" && d.two):
		case slices.Contains(notOperations, m.Key), strings.HasPrefix(m.Key, "x-"):
		default:
			d.others.add(m.Key, item.Get(m.Key), &d.skips)
		}
	}
	more := item.Get("additionalOperations")
	operations, is := more.Value.(tree.Object)
	if !is && more.Value != nil {
		d.skips.add(more, "not a list of operations")
	}
	for _, m := range operations {
		d.others.add(m.Key, more.Get(m.Key), &d.skips)
	}
	beside, _ := at.Value.(tree.Object)
	if _, is := beside.Get("$ref").(string); !is {
		return
	}
	for _, m := range beside {
		if !slices.Contains(notOperations, m.Key) && !strings.HasPrefix(m.Key, "x-") {
			d.skips.add(at.Get(m.Key), "it is beside a $ref, which stands for the whole path")
		}
	}
}

// manyOperations bounds how many operations of one other method are listed one by one: generators write
// OPTIONS for every path.
const manyOperations = 10

// otherMethods counts the operations of methods that make no tools, by method.
type otherMethods map[string]int

func (o otherMethods) add(method string, n toolschema.Node, s *skips) {
	if o[method]++; o[method] <= manyOperations {
		s.add(n, fmt.Sprintf("%q is none of the methods that make tools: %s", method,
			strings.Join(methods, ", ")))
	}
}

// listMore says how many operations are not listed one by one.
func (o otherMethods) listMore(paths toolschema.Node, s *skips) {
	for _, method := range slices.Sorted(maps.Keys(o)) {
		if more := o[method] - manyOperations; more > 0 {
			s.add(paths, fmt.Sprintf("%d more operations of the method %q make no tools either", more, method))
		}
	}
}

// listWebhooks says that what an API sends by itself makes no tools.
func (d *document) listWebhooks() {
	if hooks, there := d.Root().Value.(tree.Object).Lookup("webhooks"); there && hooks != nil {
		d.skips.addUsual(d.Root().Get("webhooks"), "webhooks are requests that the API makes, and so no tools")
	}
}

// listOtherBodies lists second descriptions of a body that is described elsewhere: parameters of OpenAPI 2.0 in a
// document of OpenAPI 3, a second body, and a form beside one.
func (d *document) listOtherBodies(op operation, parameters []parameter) {
	whole := op.node.Get("requestBody").Value != nil && !d.two
	for _, p := range parameters {
		switch {
		case p.in == "body" && !whole:
			whole = true
		case p.in == "body":
			d.skips.add(p.node, "the operation has another body")
		}
	}
	for _, p := range parameters {
		if p.in == "formData" && whole {
			d.skips.add(p.node, "a field of a form, and the operation has another body")
		}
	}
}

// listSequence lists what a media type says of a body that is a sequence (OpenAPI 3.2), of which lines of JSON alone
// are made.
func (d *document) listSequence(o offer) {
	for _, key := range []string{"itemSchema", "itemEncoding", "prefixEncoding"} {
		read := key == "itemSchema" && restcall.IsLines(o.bare) && o.media.Get("schema").Value == nil
		if n := o.media.Get(key); n.Value != nil && !read {
			d.skips.add(n, "no sequence is made of the type "+o.full)
		}
	}
}

// listCallbacks says that what an API sends when it has been called makes no tools.
func (d *document) listCallbacks(op operation) {
	if n := op.node.Get("callbacks"); n.Value != nil {
		d.skips.addUsual(n, "callbacks are requests that the API makes, and so no tools")
	}
}

// fixedBy says what sets a parameter already: the upstream, or the query of the path. "": nothing.
func (d *document) fixedBy(template, in, name string) (by string) {
	if d.options.Fixed != nil {
		by = d.options.Fixed(in, name)
	}
	if by == "" && in == "query" && strings.Contains(template, "?") {
		by = restcall.FixedQuery(template).By(in, name)
	}
	return by
}

// fixedReason says why a parameter is no argument.
func fixedReason(in, name, by string) string {
	return fmt.Sprintf("the %s parameter %q is no argument: %s of the upstream sets it", in, name, by)
}

// leaveOut reports whether a parameter of the path, the query, the headers or the cookies is no argument, and
// lists it then.
func (d *document) leaveOut(op operation, p parameter, hasPlace bool) bool {
	by := d.fixedBy(op.template, p.in, p.name)
	switch {
	case by != "":
		d.skips.addUsual(p.node, fixedReason(p.in, p.name, by))
	case p.in == "path" && !hasPlace:
		d.skips.add(p.node, fmt.Sprintf("the path has no place for its parameter %q", p.name))
	case p.in == "header" && restcall.Reserved(p.name):
		d.skips.addUsual(p.node, fmt.Sprintf("the header %q is no argument: it is set for each call, or never sent",
			p.name))
	case p.in == "cookie" && !p.True("required"):
		d.skips.addUsual(p.node, fmt.Sprintf("the cookie %q is no argument: the API does without it", p.name))
	default:
		return false
	}
	return true
}

// dropFixedFields takes those fields off a form that the query of the upstream sets: many servers read both as one.
func (d *document) dropFixedFields(op operation, b *body) {
	if b == nil || b.whole || b.ContentType != typeForm && b.ContentType != typeMultipart {
		return
	}
	b.args = slices.DeleteFunc(b.args, func(a argument) bool {
		by := d.fixedBy(op.template, "query", a.Name)
		if by == "" || a.more {
			return false
		}
		d.skips.addUsual(op.node, fixedReason("form", a.Name, by))
		return true
	})
}
