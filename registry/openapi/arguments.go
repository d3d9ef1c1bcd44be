package openapi

import (
	"strconv"
	"strings"

	"github.com/keystile/keystile/internal/toolschema"
	"github.com/keystile/keystile/internal/toolschema/tree"
	"github.com/keystile/keystile/storage/toolplan"
)

// argument is a property of an input schema and its place in the request.
type argument struct {
	toolschema.Field                // Name is the upstream's
	in               string         // path, query, header, cookie or body
	as               string         // the property
	param            toolplan.Param // how it is written, of path, query, header and cookie
	form             *formField     // how a form writes it, of a body; nil: by its value
	more             bool           // its members are members of the body
	file, orText     bool           // see toolplan.Field, of a multipart form
}

// described returns the schema of an argument, which says what the API calls it where it has another name.
func (a *argument) described() tree.Object {
	if a.as == a.Name || a.more {
		return a.Schema
	}
	return toolschema.KnownAs(a.Schema, a.Name)
}

// formField holds how a form writes an argument.
type formField struct {
	toolplan.Field
	headers []header // of its part
}

// header is one of a part. arg is nil if it is fixed.
type header struct {
	toolplan.PartHeader
	arg *argument
}

// maxArgument is the length of a property that model APIs take.
const maxArgument = 64

// nameArguments gives each argument the property under which it is passed: its own name
// where models can use it, or one made from it. Of arguments with the same name the path's
// keeps it, then the query's, the header's, the cookie's and the body's; in one place, whoever can keep
// its name does. The others become query_id, header_id or body_id.
func nameArguments(args []*argument) {
	taken := map[string]bool{}
	take := func(a *argument, name string) {
		if !taken[name] {
			a.as, taken[name] = strings.Clone(name), true
		}
	}
	for _, in := range []string{"path", "query", "querystring", "header", "cookie", "body"} {
		for _, a := range args {
			if a.in == in && toolschema.Legal(a.Name) {
				take(a, a.Name)
			}
		}
		for _, a := range args {
			if a.in != in || a.as != "" {
				continue
			}
			name := clean(a.Name, "_.-")
			if name == "" {
				name = "arg"
			}
			take(a, name[:min(len(name), maxArgument)])
			for n := 1; a.as == ""; n++ {
				suffix := ""
				if n > 1 {
					suffix = "_" + strconv.Itoa(n)
				}
				prefixed := in + "_" + name
				take(a, prefixed[:min(len(prefixed), maxArgument-len(suffix))]+suffix)
			}
		}
	}
}
