package restcall

import (
	"bytes"
	"encoding/json"
	"strconv"

	"github.com/keystile/keystile/internal/rawjson"
)

// deep writes a value as deepObject does, as deep as the value goes. OpenAPI defines one
// level; what is below follows the servers that ask for the style (PHP, Rack, qs, and the
// payment APIs on them): a[b][c]=x for objects, a[]=x&a[]=y for lists of plain values, and
// a[0][b]=x for lists of objects or lists, whose members could not be told apart otherwise.
type deep struct {
	name []byte                              // so far
	add  func(name []byte, text string) bool // false: no more is wanted

	fault string // why the value may not be sent; it reads on after "must"
}

// write reports whether more is wanted.
func (d *deep) write(raw json.RawMessage) bool {
	switch raw[0] {
	case '{':
		for member, v := range rawjson.Members(raw) {
			if bytes.ContainsAny(member, "[]") {
				d.fault = faultBrackets
				return false
			}
			if !d.below(string(member), v) {
				return false
			}
		}
	case '[':
		n, numbered := 0, nested(raw)
		for e := range rawjson.Elements(raw) {
			if isNull(e) {
				continue
			}
			key := ""
			if numbered {
				key = strconv.Itoa(n)
			}
			if n++; !d.below(key, e) {
				return false
			}
		}
	case 'n':
	default:
		return d.add(d.name, textOf(raw, false))
	}
	return true
}

// below writes a member. The name is extended in place: copied for each member of each
// level, a long one would cost far more than what is written.
func (d *deep) below(key string, raw json.RawMessage) bool {
	end := len(d.name)
	d.name = append(append(append(d.name, '['), key...), ']')
	more := d.write(raw)
	d.name = d.name[:end]
	return more
}

// nested reports a list that holds objects or lists.
func nested(list json.RawMessage) bool {
	for e := range rawjson.Elements(list) {
		if e[0] == '{' || e[0] == '[' {
			return true
		}
	}
	return false
}
