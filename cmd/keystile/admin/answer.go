package admin

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"text/tabwriter"
	"time"
)

// output is what a command has to say, printed as one line of JSON or as aligned lines.
type output interface {
	text(asJSON bool) (string, error)
}

// answer is names and values in order.
type answer []field

type field struct {
	name  string
	value any // a string, []string, bool or int64
}

func (a answer) text(asJSON bool) (string, error) {
	if asJSON {
		return line(a)
	}
	var out strings.Builder
	tab := tabwriter.NewWriter(&out, 0, 0, 2, ' ', 0)
	for _, f := range a {
		fmt.Fprintf(tab, "%s\t%s\n", f.name, f.shown())
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

// list is answers with the same names: a table with a head, or an array.
type list []answer

func (l list) text(asJSON bool) (string, error) {
	if asJSON {
		if l == nil {
			l = list{}
		}
		return line(l)
	}
	var out strings.Builder
	tab := tabwriter.NewWriter(&out, 0, 0, 2, ' ', 0)
	for i, a := range l {
		var head, row []string
		for _, f := range a {
			head, row = append(head, strings.ToUpper(f.name)), append(row, f.shown())
		}
		if i == 0 {
			fmt.Fprintln(tab, strings.Join(head, "\t"))
		}
		fmt.Fprintln(tab, strings.Join(row, "\t"))
	}
	err := tab.Flush()
	return out.String(), err
}

func line(v any) (string, error) {
	text, err := json.Marshal(v)
	return string(text) + "\n", err
}

// shown keeps a value in its column: names of people and applications may hold anything.
func (f field) shown() string {
	text := fmt.Sprint(f.value)
	if parts, ok := f.value.([]string); ok {
		text = strings.Join(parts, ", ")
	}
	return strings.Map(func(r rune) rune {
		if r < ' ' || r >= 0x7f && r < 0xa0 {
			return ' '
		}
		return r
	}, text)
}

// when writes a time, "" for none.
func when(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}
