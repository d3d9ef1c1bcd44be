package tree

import (
	"math"

	"github.com/keystile/keystile/internal/rawjson"
)

// Append appends a value as JSON and reports whether all of it is at most max bytes. If it
// is not, it has stopped at about max, and what it appended is cut somewhere.
func Append(dst []byte, v any, max int) ([]byte, bool) {
	w := writer{out: dst, end: len(dst) + max}
	w.value(v)
	return w.out, !w.full()
}

type writer struct {
	out []byte
	end int
	cut bool // a string did not fit
}

func (w *writer) full() bool { return w.cut || len(w.out) > w.end }

func (w *writer) value(v any) {
	if w.full() {
		return
	}
	switch v := v.(type) {
	case nil:
		w.out = append(w.out, "null"...)
	case bool:
		if v {
			w.out = append(w.out, "true"...)
		} else {
			w.out = append(w.out, "false"...)
		}
	case Number:
		w.out = append(w.out, v...)
	case later:
		u, _ := Parse(string(v), math.MaxInt)
		w.value(u)
	case string:
		w.str(v)
	case Array:
		w.out = append(w.out, '[')
		for i, item := range v {
			if w.full() {
				return
			}
			if i > 0 {
				w.out = append(w.out, ',')
			}
			w.value(item)
		}
		w.out = append(w.out, ']')
	case Object:
		w.out = append(w.out, '{')
		for i, m := range v {
			if w.full() {
				return
			}
			if i > 0 {
				w.out = append(w.out, ',')
			}
			w.str(m.Key)
			w.out = append(w.out, ':')
			w.value(m.Value)
		}
		w.out = append(w.out, '}')
	}
}

func (w *writer) str(s string) {
	if len(w.out)+len(s) > w.end { // not copied only to be thrown away
		w.cut = true
		return
	}
	w.out = rawjson.AppendString(w.out, s)
}
