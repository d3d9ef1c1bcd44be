package openapi

import (
	"slices"

	"github.com/keystile/keystile/storage/toolplan"
)

// The styles of OpenAPI 3.
const (
	styleSimple         = "simple"
	styleLabel          = "label"
	styleMatrix         = "matrix"
	styleForm           = "form"
	styleSpaceDelimited = "spaceDelimited"
	stylePipeDelimited  = "pipeDelimited"
	styleDeepObject     = "deepObject"
)

// styles are those of the places of a parameter; the first is the default.
var styles = map[string][]string{
	"path":   {styleSimple, styleLabel, styleMatrix},
	"query":  {styleForm, styleSpaceDelimited, stylePipeDelimited, styleDeepObject},
	"header": {styleSimple},
	"cookie": {styleForm},
}

// methodOf returns how OpenAPI has a value written, by its place and by what a document says: style may be "" and
// explode nil. It is not ok if there is no such way.
func methodOf(in, style string, explode *bool) (m toolplan.Field, ok bool) {
	if style == "" && len(styles[in]) > 0 {
		style = styles[in][0]
	}
	m = toolplan.Field{Style: style, Explode: style == styleForm || style == styleDeepObject}
	if explode != nil {
		m.Explode = *explode
	}
	return m, slices.Contains(styles[in], style) && (style != styleDeepObject || m.Explode)
}

// serialization returns how a parameter is written into a request. A way that OpenAPI does not have is reported,
// and the default is used.
func (d *document) serialization(p parameter) (style string, explode bool) {
	key := "style"
	asked, exploded := p.Text(key), (*bool)(nil)
	if b, is := p.Get("explode").(bool); is {
		exploded = &b
	}
	if format := p.Text("collectionFormat"); d.two || format != "" {
		key = "collectionFormat"
		asked, exploded = fromCollectionFormat(format)
	}
	repeats := (p.in == "query" || p.in == "cookie") && key == "style" // the default of OpenAPI 3
	if asked == "" && exploded == nil {
		return "", repeats
	}
	method, ok := methodOf(p.in, asked, exploded)
	if !ok {
		d.skips.add(p.node.Get(key), "not a way to write a "+p.in+" parameter")
		return "", repeats
	}
	if method.Style == styleForm || method.Style == styleSimple {
		method.Style = "" // the default of its place
	}
	return method.Style, method.Explode
}

// fromCollectionFormat says in the words of OpenAPI 3 what a collectionFormat of 2.0 means.
func fromCollectionFormat(format string) (style string, explode *bool) {
	no := false
	switch format {
	case "", "csv":
		return "", nil
	case "ssv":
		return styleSpaceDelimited, &no
	case "pipes":
		return stylePipeDelimited, &no
	case "multi":
		yes := true
		return styleForm, &yes
	}
	return format, &no // tsv is in no later version
}
