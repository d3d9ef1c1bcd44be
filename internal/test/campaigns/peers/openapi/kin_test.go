package openapi

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi2"
	"github.com/getkin/kin-openapi/openapi2conv"
	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
)

// kin checks requests with kin-openapi's filter. Which operation a request is for is known; its
// path must be that of the operation.
type kin struct{ document *openapi3.T }

func newKin(t *testing.T, text []byte, two bool) kin {
	t.Helper()
	loader := openapi3.NewLoader()
	if !two {
		document, err := loader.LoadFromData(text)
		if err != nil {
			t.Fatal(err)
		}
		return kin{document}
	}
	var old openapi2.T
	if err := json.Unmarshal(text, &old); err != nil {
		t.Fatal(err)
	}
	document, err := openapi2conv.ToV3WithLoader(&old, loader, nil)
	if err != nil {
		t.Fatal(err)
	}
	return kin{document}
}

// validate lists what is wrong with a request for an operation.
func (k kin) validate(r *http.Request, template string) (out []string) {
	path := pathOf(k.document.Paths.InMatchingOrder(), template)
	item := k.document.Paths.Value(path)
	operation := item.GetOperation(r.Method)
	if operation == nil {
		return []string{r.Method + " is not described for " + template}
	}
	params, err := paramsOf(template, r.URL.EscapedPath())
	if err != nil {
		return []string{err.Error()}
	}
	err = openapi3filter.ValidateRequest(r.Context(), &openapi3filter.RequestValidationInput{
		Request: r, PathParams: params, QueryParams: r.URL.Query(),
		Route: &routers.Route{Spec: k.document, Path: path, PathItem: item, Method: r.Method, Operation: operation},
		Options: &openapi3filter.Options{
			MultiError: true, RejectWhenRequestBodyNotSpecified: true, SkipSettingDefaults: true,
			AuthenticationFunc: openapi3filter.NoopAuthenticationFunc,
		},
	})
	var many openapi3.MultiError
	if err != nil && !errors.As(err, &many) {
		many = openapi3.MultiError{err}
	}
	for _, err := range many {
		out = append(out, strings.Join(strings.Fields(err.Error()), " "))
	}
	return out
}

var placeholder = regexp.MustCompile(`\{([^{}]+)\}`)

// paramsOf reads the values of placeholders out of a path.
func paramsOf(template, path string) (map[string]string, error) {
	template, _, _ = strings.Cut(template, "?")
	var pattern strings.Builder
	var names []string
	rest := 0
	for _, at := range placeholder.FindAllStringSubmatchIndex(template, -1) {
		pattern.WriteString(regexp.QuoteMeta(template[rest:at[0]]) + "([^/]*)")
		names, rest = append(names, template[at[2]:at[3]]), at[1]
	}
	pattern.WriteString(regexp.QuoteMeta(template[rest:]))
	found := regexp.MustCompile("^" + pattern.String() + "$").FindStringSubmatch(path)
	if found == nil {
		return nil, fmt.Errorf("the path %s is none of %s", path, template)
	}
	params := map[string]string{}
	for i, name := range names {
		text, err := url.PathUnescape(found[i+1])
		if err != nil {
			return nil, err
		}
		params[name] = text
	}
	return params, nil
}
