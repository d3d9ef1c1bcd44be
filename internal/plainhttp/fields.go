package plainhttp

import (
	"net/http"
	"net/textproto"
	"slices"
	"strings"

	"golang.org/x/net/http/httpguts"
)

// field is a field of a head: its name, and its values as they were when the handler began to answer.
type field struct {
	name    string
	value   string   // the first
	more    []string // the others
	values  int      // 0: the handler wants none, where there would be one otherwise
	without bool     // it is not sent
}

// fields are the fields of a head, by name, and those among them that say something about the message.
type fields struct {
	all []field

	connection, encoding, length, kind, date, trailer, transfer, trailed *field
}

// take copies the fields of a header: what the handler does to it later does not count.
func (f *fields) take(h http.Header) {
	f.clear()
	for name, values := range h {
		one := field{name: name, values: len(values)}
		if len(values) > 0 {
			one.value = values[0]
			one.more = slices.Clone(values[1:])
		}
		f.all = append(f.all, one)
	}
	slices.SortFunc(f.all, func(a, b field) int { return strings.Compare(a.name, b.name) })
	for i := range f.all {
		f.know(&f.all[i])
	}
}

func (f *fields) know(one *field) {
	switch one.name {
	case "Connection":
		f.connection = one
	case "Content-Encoding":
		f.encoding = one
	case "Content-Length":
		f.length = one
	case "Content-Type":
		f.kind = one
	case "Date":
		f.date = one
	case "Trailer":
		if one.values > 0 {
			f.trailer = one
		}
	case "Transfer-Encoding":
		f.transfer = one
	default:
		if strings.HasPrefix(one.name, http.TrailerPrefix) {
			f.trailed, one.without = one, true
		}
	}
}

func (f *fields) clear() {
	clear(f.all)
	*f = fields{all: f.all[:0]}
}

// first returns the first value of a field, or nothing.
func (f *field) first() string {
	if f == nil {
		return ""
	}
	return f.value
}

func (f *field) leaveOut() {
	if f != nil {
		f.without = true
	}
}

// append appends the lines of the fields to b. Those with names that are none are left out.
func (f *fields) append(b []byte) []byte {
	for i := range f.all {
		one := &f.all[i]
		if one.without || one.values == 0 || !httpguts.ValidHeaderFieldName(one.name) {
			continue
		}
		b = appendLine(b, one.name, one.value)
		for _, v := range one.more {
			b = appendLine(b, one.name, v)
		}
	}
	return b
}

// appendLine appends a line. Nothing in a value ends it early.
func appendLine(b []byte, name, value string) []byte {
	if strings.ContainsAny(value, "\r\n") {
		value = noLineEnds.Replace(value)
	}
	b = append(b, name...)
	b = append(b, ": "...)
	b = append(b, textproto.TrimString(value)...)
	return append(b, "\r\n"...)
}
