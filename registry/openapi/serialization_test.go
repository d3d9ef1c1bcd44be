package openapi

import (
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
)

// kin-openapi writes a parameter in the same way, in each place, of each style, with explode and without.
func TestSerializationOfEachStyleIsThatOfOpenAPI(t *testing.T) {
	yes, no := true, false
	sorts := 0
	for _, in := range []string{"path", "query", "header", "cookie", "body"} {
		for _, style := range []string{"", styleSimple, styleLabel, styleMatrix, styleForm, styleSpaceDelimited,
			stylePipeDelimited, styleDeepObject, "cookie", "tsv", "Form"} {
			for _, explode := range []*bool{nil, &yes, &no} {
				p := openapi3.Parameter{Name: "x", In: in, Required: true, Style: style, Explode: explode,
					Schema: openapi3.NewStringSchema().NewRef()}
				invalid := p.Validate(t.Context())
				got, ok := methodOf(in, style, explode)
				if ok != (invalid == nil) {
					t.Errorf("%s, %q, explode %v: is a way: %t, want %v", in, style, explode, ok, invalid)
				}
				if !ok {
					continue
				}
				sorts++
				if want, err := p.SerializationMethod(); err != nil || got.Style != want.Style || got.Explode != want.Explode {
					t.Errorf("%s, %q, explode %v: %+v, want %+v, %v", in, style, explode, got, want, err)
				}
			}
		}
	}
	if sorts < 30 {
		t.Errorf("%d ways are compared, want all", sorts)
	}
}
