// Package forward lets a record survive being read and written by a version that is older than
// the one that wrote it: fields that this version does not know are kept.
package forward

import (
	"bytes"
	"encoding"
	"encoding/json"
	"reflect"
	"strings"
	"sync"
)

// Fields holds what a newer version has written into a record and this one does not know.
// Every record embeds it, under an alias that is not exported, so that reading a record,
// changing it and writing it keeps what a newer version needs. It can be compared, and is in no
// JSON of the record's.
type Fields struct {
	fields string // extras as JSON; "": none
	sealed string // sealed texts by field as JSON; "": none
}

func (f *Fields) unknown() *Fields { return f }

// holder is a pointer to a record. Its method is promoted from Fields, which only this package
// can reach.
type holder interface{ unknown() *Fields }

func of[T any](record *T) *Fields { return any(record).(holder).unknown() }

// Sealed returns the sealed texts of a record that this version has no fields for, as a JSON
// object by field; "" if there are none. It panics if the record does not embed Fields.
func Sealed[T any](record *T) string { return of(record).sealed }

// KeepSealed gives a record what Sealed returns.
func KeepSealed[T any](record *T, sealed string) { of(record).sealed = sealed }

// extras are the fields of one JSON value that this version does not know.
type extras struct {
	Fields map[string]json.RawMessage `json:"fields,omitempty"` // of this object
	Inside map[string]*extras         `json:"inside,omitempty"` // of the objects in it, by name
	Items  []extraItem                `json:"items,omitempty"`  // of the objects of this list
}

// extraItem belongs to the item of a list that is, as far as this version knows, Of: an item
// that this version changes is another one, and does not get the fields.
type extraItem struct {
	Of    string  `json:"of"`
	Extra *extras `json:"extra"`
}

// Decode reads a record of JSON. Members that this version has no field for are kept in its Fields.
func Decode[T any](data []byte) (v T, err error) {
	strict := json.NewDecoder(bytes.NewReader(data))
	strict.DisallowUnknownFields()
	if strict.Decode(&v) == nil && strict.InputOffset() == int64(len(data)) {
		return v, nil // nearly always
	}
	var whole T
	if err := json.Unmarshal(data, &whole); err != nil {
		return whole, err
	}
	if found := unknown(data, reflect.TypeFor[T]()); found != nil {
		text, err := json.Marshal(found)
		if err != nil {
			return whole, err
		}
		of(&whole).fields = string(text)
	}
	return whole, nil
}

// Encode writes a record as JSON, together with what Decode kept in its Fields. A field that this
// version knows has its value, and is omitted if this version omits it.
func Encode[T any](v *T) ([]byte, error) {
	data, err := json.Marshal(v)
	known := of(v)
	if err != nil || known.fields == "" {
		return data, err
	}
	var found *extras
	if err := json.Unmarshal([]byte(known.fields), &found); err != nil {
		return nil, err
	}
	return found.into(data)
}

// unknown returns the fields of a JSON value that a type has no place for, nil if there are none.
func unknown(data []byte, t reflect.Type) *extras {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if readsItself(t) {
		return nil
	}
	found := &extras{}
	switch t.Kind() {
	case reflect.Struct:
		found.ofObject(data, fieldsOf(t))
	case reflect.Map:
		found.ofMap(data, t.Elem())
	case reflect.Slice, reflect.Array:
		found.ofList(data, t.Elem())
	}
	if found.Fields == nil && found.Inside == nil && found.Items == nil {
		return nil
	}
	return found
}

var (
	jsonReader = reflect.TypeFor[json.Unmarshaler]()
	textReader = reflect.TypeFor[encoding.TextUnmarshaler]()
)

// readsItself reports whether a type has its own way of being read, such as a time.
func readsItself(t reflect.Type) bool {
	p := reflect.PointerTo(t)
	return p.Implements(jsonReader) || p.Implements(textReader)
}

func (e *extras) ofObject(data []byte, known map[string]reflect.StructField) {
	var object map[string]json.RawMessage
	if json.Unmarshal(data, &object) != nil {
		return
	}
	for name, value := range object {
		field, is := known[strings.ToLower(name)] // as encoding/json matches them
		if !is {
			e.add(name, value)
			continue
		}
		e.within(nameOf(field), unknown(value, field.Type))
	}
}

func (e *extras) add(name string, value json.RawMessage) {
	if e.Fields == nil {
		e.Fields = map[string]json.RawMessage{}
	}
	e.Fields[name] = value
}

func (e *extras) within(name string, found *extras) {
	if found == nil {
		return
	}
	if e.Inside == nil {
		e.Inside = map[string]*extras{}
	}
	e.Inside[name] = found
}

func (e *extras) ofMap(data []byte, of reflect.Type) {
	var object map[string]json.RawMessage
	if json.Unmarshal(data, &object) != nil {
		return
	}
	for name, value := range object {
		e.within(name, unknown(value, of))
	}
}

func (e *extras) ofList(data []byte, of reflect.Type) {
	var list []json.RawMessage
	if json.Unmarshal(data, &list) != nil {
		return
	}
	for _, value := range list {
		found := unknown(value, of)
		if found == nil {
			continue
		}
		item := reflect.New(of)
		if json.Unmarshal(value, item.Interface()) != nil {
			continue
		}
		if text, err := json.Marshal(item.Interface()); err == nil {
			e.Items = append(e.Items, extraItem{Of: string(text), Extra: found})
		}
	}
}

// into puts the fields into a JSON value as this version has written it.
func (e *extras) into(data []byte) ([]byte, error) {
	if e.Items != nil {
		return e.intoList(data)
	}
	var object map[string]json.RawMessage
	if json.Unmarshal(data, &object) != nil || object == nil {
		return data, nil // this version has made something else of it
	}
	for name, value := range e.Fields {
		if _, there := object[name]; !there {
			object[name] = value
		}
	}
	for name, found := range e.Inside {
		value, there := object[name]
		if !there {
			continue
		}
		merged, err := found.into(value)
		if err != nil {
			return nil, err
		}
		object[name] = merged
	}
	return json.Marshal(object)
}

func (e *extras) intoList(data []byte) ([]byte, error) {
	var list []json.RawMessage
	if json.Unmarshal(data, &list) != nil || list == nil {
		return data, nil
	}
	used := make([]bool, len(e.Items))
	for i, value := range list {
		for j, item := range e.Items {
			if used[j] || item.Of != string(value) {
				continue
			}
			merged, err := item.Extra.into(value)
			if err != nil {
				return nil, err
			}
			list[i], used[j] = merged, true
			break
		}
	}
	return json.Marshal(list)
}

var fieldTables sync.Map // reflect.Type -> map[string]reflect.StructField

// fieldsOf returns the fields that encoding/json reads into a struct, by name in lower case.
func fieldsOf(t reflect.Type) map[string]reflect.StructField {
	if table, ok := fieldTables.Load(t); ok {
		return table.(map[string]reflect.StructField)
	}
	table := map[string]reflect.StructField{}
	for _, field := range reflect.VisibleFields(t) {
		if field.IsExported() && nameOf(field) != "" {
			table[strings.ToLower(nameOf(field))] = field
		}
	}
	fieldTables.Store(t, table)
	return table
}

// nameOf is the name of a field in JSON, "" if it has none.
func nameOf(field reflect.StructField) string {
	name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
	switch {
	case field.Tag.Get("json") == "-" || field.Anonymous && name == "":
		return ""
	case name == "":
		return field.Name
	}
	return name
}
