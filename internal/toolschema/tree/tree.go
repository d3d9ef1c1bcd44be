package tree

import (
	"math"
	"slices"
	"strings"
)

// Number is a JSON number as it was written.
type Number string

// Array is a JSON array.
type Array []any

// Object is a JSON object: its members sorted by key, bytewise, no key twice. The zero
// Object is empty. Nobody changes it once it is built.
type Object []Member

// Member is a name and a value of an Object.
type Member struct {
	Key   string
	Value any
}

// Get returns the value of a key, nil if there is none. A JSON null is nil too.
func (o Object) Get(key string) any {
	v, _ := o.Lookup(key)
	return v
}

// Lookup returns the value of a key and whether there is one.
func (o Object) Lookup(key string) (any, bool) {
	i := o.index(key)
	if i < 0 {
		return nil, false
	}
	if text, is := o[i].Value.(later); is {
		o[i].Value, _ = Parse(string(text), math.MaxInt) // it was checked, its depth too
	}
	return o[i].Value, true
}

// index returns where a key is, -1 if there is none. Most objects are small: there, keys of another length are passed
// over faster than halves are taken.
func (o Object) index(key string) int {
	first, end := 0, len(o)
	for end-first > 8 {
		if middle := (first + end) / 2; o[middle].Key <= key {
			first = middle
		} else {
			end = middle
		}
	}
	for i := first; i < end; i++ {
		if o[i].Key == key {
			return i
		}
	}
	return -1
}

// later is the text of a value that has been checked and not been read yet. It is met
// only by those who range over an Object instead of asking for a key.
type later string

// Text returns the value of a key if that is a string, else "".
func (o Object) Text(key string) string {
	s, _ := o.Get(key).(string)
	return s
}

// True reports whether the value of a key is true.
func (o Object) True(key string) bool { return o.Get(key) == true }

// NewObject returns an object of members in any order. Of members with one key the last
// stays, as in JSON. It owns the slice it is given.
func NewObject(members ...Member) Object {
	byKey := func(a, b Member) int { return strings.Compare(a.Key, b.Key) }
	if !slices.IsSortedFunc(members, byKey) {
		slices.SortStableFunc(members, byKey)
	}
	kept := members[:0]
	for _, m := range members {
		if n := len(kept); n > 0 && kept[n-1].Key == m.Key {
			kept[n-1] = m
			continue
		}
		kept = append(kept, m)
	}
	return kept
}

// Equal reports whether two values are the same JSON, numbers by their text.
func Equal(a, b any) bool {
	switch a := a.(type) {
	case Object:
		b, same := b.(Object)
		return same && slices.EqualFunc(a, b, func(x, y Member) bool {
			return x.Key == y.Key && Equal(x.Value, y.Value)
		})
	case Array:
		b, same := b.(Array)
		return same && slices.EqualFunc(a, b, Equal)
	}
	switch b.(type) {
	case Object, Array: // not comparable with ==
		return false
	}
	return a == b
}
