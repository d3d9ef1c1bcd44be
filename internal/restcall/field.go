package restcall

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"

	"github.com/keystile/keystile/storage/toolplan"
)

// field is a member of the body, with all that its Field says read once.
type field struct {
	toolplan.Field
	arg     int
	key     []byte   // the name as JSON, and a colon
	types   []string // what it may be sent as, in the order of the document
	headers []partHeader
}

// partHeader is a header of a part.
type partHeader struct {
	name, value string
	arg         int // -1: value
}

// formStyles lists the styles of a form field. tabDelimited is OpenAPI 2.0's tsv.
var formStyles = []string{"", "form", "spaceDelimited", "pipeDelimited", "tabDelimited", "deepObject"}

func (b *body) addField(f toolplan.Field, p *Plan) error {
	switch {
	case b.kind == bodyMultipart && !headerValue(f.Name):
		return fmt.Errorf("the body field of %q has control characters in its name", f.Arg)
	case !slices.Contains(formStyles, f.Style):
		return fmt.Errorf("the body field %q has the unknown style %q", f.Name, f.Style)
	}
	at, ok := p.index[f.Arg]
	if !ok {
		return nil // bind complains
	}
	p.args[at].data = b.kind == bodyJSON
	out := field{Field: f, arg: at}
	key, _ := json.Marshal(f.Name)
	out.key = append(key, ':')
	var err error
	if out.types, err = mediaTypes(f.ContentType); err != nil {
		return fmt.Errorf("the body field %q: %w", f.Name, err)
	}
	if f.File {
		p.args[at].schema.takeFiles(0)
	}
	for _, h := range f.Headers {
		header := partHeader{name: http.CanonicalHeaderKey(h.Name), value: h.Value, arg: -1}
		if !PartHeader(h.Name) || !plain(h.Value) {
			return fmt.Errorf("the body field %q cannot have the header %q", f.Name, h.Name)
		}
		if h.Arg != "" {
			if header.arg, ok = p.index[h.Arg]; !ok {
				continue // bind complains
			}
		}
		out.headers = append(out.headers, header)
	}
	b.fields = append(b.fields, out)
	return nil
}

// checkHeaders complains of a header whose part is not sent.
func (f *field) checkHeaders(args arguments, p *Plan, c *complaints) {
	for _, h := range f.headers {
		if h.arg >= 0 && args.given(h.arg, p) && !args.given(f.arg, p) {
			c.add("argument %q is a header of %q, which is not given", p.args[h.arg].name, p.args[f.arg].name)
		}
	}
}

// header appends the headers of a part that are not about its form.
func (f *field) header(to http.Header, args arguments, p *Plan, c *complaints) {
	for _, h := range f.headers {
		value := h.value
		if h.arg >= 0 {
			if !args.given(h.arg, p) {
				c.add("argument %q is required when %q is given", p.args[h.arg].name, f.Arg)
				continue
			}
			value = string(valueOf(args[h.arg], false).join(nil, ",", false, escapeNothing))
		}
		switch name := h.name; {
		case !plain(value):
			c.add("argument %q must have no control characters: it is sent as a header", p.args[h.arg].name)
		case len(value) > maxHeader:
			c.add("argument %q must have at most %d bytes: it is sent as a header", p.args[h.arg].name, maxHeader)
		default:
			to[name] = []string{value}
		}
	}
}
