package admin

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// output holds the answer of a command, printed as one line of JSON or as aligned lines.
type output interface {
	text(asJSON bool) (string, error)
}

// answer is names and values in order.
type answer []field

type field struct {
	name  string
	value any // what is printed has a String, or is a string, []string, bool or int64
}

func (a answer) text(asJSON bool) (string, error) {
	if asJSON {
		return line(a)
	}
	var rows [][]string
	for _, f := range a {
		rows = append(rows, []string{f.name, f.shown()})
	}
	return aligned(rows), nil
}

// filled returns the fields that have a value.
func (a answer) filled() answer {
	return slices.DeleteFunc(slices.Clone(a), func(f field) bool { return f.value == "" })
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
type list struct {
	rows    []answer
	columns []string // of the table; nil: all
	empty   string   // what a person is told if there are no rows
}

// of returns the list with a row for each record.
func of[T any](l list, all []T, show func(T) answer) list {
	for _, one := range all {
		l.rows = append(l.rows, show(one))
	}
	return l
}

func (l list) text(asJSON bool) (string, error) {
	if asJSON {
		return line(append([]answer{}, l.rows...))
	}
	if len(l.rows) == 0 {
		return l.empty + "\n", nil
	}
	var head []string
	var table [][]string
	for _, a := range l.rows {
		var row []string
		head = nil
		for _, f := range a {
			if l.columns == nil || slices.Contains(l.columns, f.name) {
				head, row = append(head, strings.ToUpper(f.name)), append(row, f.shown())
			}
		}
		table = append(table, row)
	}
	return aligned(slices.Insert(table, 0, head)), nil
}

// aligned writes the columns of rows that have equally many.
func aligned(rows [][]string) string {
	var text, out strings.Builder
	tab := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	for _, row := range rows {
		fmt.Fprintln(tab, strings.Join(row, "\t"))
	}
	tab.Flush() // a Builder takes everything
	for line := range strings.Lines(text.String()) {
		out.WriteString(strings.TrimRight(line, " \n") + "\n")
	}
	return out.String()
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

// stamp is a time as the API writes it: in UTC and without fractions, null for none.
type stamp string

// when makes the stamp of a time.
func when(t time.Time) stamp {
	if t.IsZero() {
		return ""
	}
	return stamp(t.UTC().Format(time.RFC3339))
}

func (s stamp) MarshalJSON() ([]byte, error) {
	if s == "" {
		return []byte("null"), nil
	}
	return json.Marshal(string(s))
}
