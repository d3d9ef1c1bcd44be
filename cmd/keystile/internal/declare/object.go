package declare

import (
	"cmp"
	"encoding/json"
)

// object holds the fields of something, each in a form that can be compared.
type object map[string]value

// value holds JSON that is the same text for the same value. One that must not be shown, or is too long, has a word.
type value struct{ text, word string }

func (v value) shown() string { return cmp.Or(v.word, v.text) }

// valueOf returns the value of what json writes.
func valueOf(v any) value {
	text, err := json.Marshal(v)
	if err != nil { // of texts, numbers, lists and objects of them
		return value{word: "?"}
	}
	return value{text: string(text)}
}

// objectOf returns the fields that a record has in JSON.
func objectOf(record any) (object, error) {
	text, err := json.Marshal(record)
	if err != nil {
		return nil, err
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(text, &fields); err != nil {
		return nil, err
	}
	o := object{}
	for name, text := range fields {
		o[name] = value{text: string(text)}
	}
	return o, nil
}
