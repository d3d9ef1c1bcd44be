package dialogue

import (
	"fmt"
	"net/url"
	"regexp"
	"strings"
)

// shapes maps the names in {{name:shape}} to patterns.
var shapes = map[string]string{
	"jwt":     `[\w-]+\.[\w-]+\.[\w-]+`,
	"code":    `[\w-]{43}`,
	"refresh": `rt_[\w-]{43}`,
	"openid":  `[0-9A-F]{32}`,
	"sub":     `u[a-z2-7]{26}`,
	"int":     `[0-9]+`,
	"unix":    `[1-9][0-9]{8,9}`,
	"cookie":  `[\w-]{43}`,
	"text":    `[^"]*`,
	"some":    `[^"]+`,
}

var placeholder = regexp.MustCompile(`\{\{(\w*)(?::(\w+))?\}\}`)

// fill puts values into a text. {{name:form}} is the value as a form writes it.
func fill(text string, values map[string]string) (string, error) {
	var missing error
	out := placeholder.ReplaceAllStringFunc(text, func(p string) string {
		m := placeholder.FindStringSubmatch(p)
		value, known := values[m[1]]
		if !known {
			missing = fmt.Errorf("{{%s}} is not known here", m[1])
		}
		if m[2] == "form" {
			return url.QueryEscape(value)
		}
		return value
	})
	return out, missing
}

// match compares what came with what is written, and remembers what it was to remember.
func match(want, got string, values map[string]string) error {
	var pattern strings.Builder
	var names []string
	rest := 0
	for _, at := range placeholder.FindAllStringSubmatchIndex(want, -1) {
		pattern.WriteString(regexp.QuoteMeta(want[rest:at[0]]))
		rest = at[1]
		name := want[at[2]:at[3]]
		if at[4] < 0 || want[at[4]:at[5]] == "form" {
			value, err := fill(want[at[0]:at[1]], values)
			if err != nil {
				return err
			}
			pattern.WriteString(regexp.QuoteMeta(value))
			continue
		}
		shape, known := shapes[want[at[4]:at[5]]]
		if !known {
			return fmt.Errorf("there is no shape %q", want[at[4]:at[5]])
		}
		pattern.WriteString("(" + shape + ")")
		names = append(names, name)
	}
	pattern.WriteString(regexp.QuoteMeta(want[rest:]))
	found := regexp.MustCompile("^" + pattern.String() + "$").FindStringSubmatch(got)
	if found == nil {
		return fmt.Errorf("%q, want %q", got, want)
	}
	for i, name := range names {
		if name != "" {
			values[name] = found[i+1]
		}
	}
	return nil
}
