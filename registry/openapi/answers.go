package openapi

import (
	"mime"
	"net/http"
	"slices"
	"strings"

	"github.com/keystile/keystile/internal/restcall"
	"github.com/keystile/keystile/internal/toolschema"
	"github.com/keystile/keystile/internal/toolschema/tree"
	"github.com/keystile/keystile/storage/toolplan"
)

// Bounds of what is kept of the answers that a document declares.
const (
	maxAccept  = 8   // media types
	maxTells   = 16  // headers
	maxAnswers = 32  // answers of an operation that are looked at
	maxType    = 128 // bytes of a media type
)

// answers keeps what a document says of the answers of 2xx of an operation: of which media types they are, and which of
// their headers can be shown.
//
// Responses are checked for syntax, and read only if a reference leads there: they are most of a large document, and
// no tool is made of them.
func (d *document) answers(op operation, call *toolplan.Call) {
	var accept []string
	for _, answer := range d.successes(op) {
		content, _ := answer.Get("content").Value.(tree.Object)
		for _, m := range content[:min(len(content), maxMedia)] {
			accept = append(accept, m.Key)
		}
		headers, _ := answer.Get("headers").Value.(tree.Object)
		for _, m := range headers[:min(len(headers), maxMedia)] {
			name := http.CanonicalHeaderKey(m.Key)
			if len(call.Tells) < maxTells && restcall.MayTell(name) && !slices.Contains(call.Tells, name) {
				call.Tells = append(call.Tells, strings.Clone(name))
			}
		}
	}
	if d.two {
		accept = d.produces(op)
	}
	call.Accept = acceptable(accept)
}

// successes returns the answers of 2xx that an operation declares, else its default one.
func (d *document) successes(op operation) (out []toolschema.Node) {
	at := op.node.Get("responses")
	all, _ := at.Value.(tree.Object)
	for _, m := range all[:min(len(all), maxAnswers)] {
		if isSuccess(m.Key) {
			if answer, err := d.Follow(at.Get(m.Key)); err == nil {
				out = append(out, answer)
			}
		}
	}
	if answer, err := d.Follow(at.Get("default")); err == nil && len(out) == 0 {
		out = append(out, answer)
	}
	return out
}

// isSuccess reports whether the key of an answer is a status of 2xx.
func isSuccess(key string) bool { return len(key) == 3 && key[0] == '2' }

// produces returns the media types that OpenAPI 2.0 names for the answers of an operation.
func (d *document) produces(op operation) (out []string) {
	list, is := op.node.Get("produces").Value.(tree.Array)
	if !is {
		list, _ = d.Root().Get("produces").Value.(tree.Array)
	}
	for i := range min(len(list), maxMedia) {
		text, _ := list[i].(string)
		out = append(out, text)
	}
	return out
}

// acceptable returns the media types of answers as a plan keeps them, each once. JSON alone is what is asked for
// anyway, and so is anything.
func acceptable(types []string) string {
	var out []string
	if len(types) == 1 && types[0] == typeJSON {
		return "" // as most are
	}
	for _, text := range types {
		media, params, err := mime.ParseMediaType(text)
		delete(params, "charset")
		delete(params, "q")
		text = mime.FormatMediaType(media, params)
		fit := err == nil && strings.Contains(text, "/") && len(text) <= maxType && media != "*/*" && !isProblem(media)
		if fit && len(out) < maxAccept && !slices.Contains(out, text) && restcall.CheckMediaTypes(text) == nil {
			out = append(out, text)
		}
	}
	if len(out) == 1 && out[0] == typeJSON {
		return ""
	}
	return strings.Join(out, ",")
}
