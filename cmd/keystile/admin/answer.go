package admin

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"text/tabwriter"
)

// answer is what a command has to say: names and values in order.
type answer []field

type field struct {
	name  string
	value any // a string, []string, bool or int64
}

// text is the answer as it is printed: one line of JSON, or aligned lines.
func (a answer) text(asJSON bool) (string, error) {
	if asJSON {
		line, err := json.Marshal(a)
		return string(line) + "\n", err
	}
	var out strings.Builder
	tab := tabwriter.NewWriter(&out, 0, 0, 2, ' ', 0)
	for _, f := range a {
		shown := fmt.Sprint(f.value)
		if list, ok := f.value.([]string); ok {
			shown = strings.Join(list, ", ")
		}
		fmt.Fprintf(tab, "%s\t%s\n", f.name, shown)
	}
	err := tab.Flush()
	return out.String(), err
}

// MarshalJSON writes an object whose members keep the order of the fields.
func (a answer) MarshalJSON() ([]byte, error) {
	var out bytes.Buffer
	glue := byte('{')
	for _, f := range a {
		value, err := json.Marshal(f.value)
		if err != nil {
			return nil, err
		}
		out.WriteByte(glue)
		fmt.Fprintf(&out, "%q:%s", f.name, value)
		glue = ','
	}
	out.WriteByte('}')
	return out.Bytes(), nil
}
