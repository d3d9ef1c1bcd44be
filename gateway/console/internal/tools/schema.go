package tools

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"

	"github.com/keystile/keystile/gateway/console/internal/ui"
	"github.com/keystile/keystile/gateway/internal/adminapi"
	"github.com/keystile/keystile/internal/rawjson"
)

const (
	maxDepth  = 6
	maxNodes  = 120
	maxFields = 60
	maxText   = 200
)

// room holds what is left of a page.
type room struct{ nodes, bytes int }

func newRoom() *room { return &room{maxNodes, 12 << 10} }

// text returns what there is room for.
func (m *room) text(text string) string {
	text, _ = cutMarkup(ui.Shown(text, maxText), max(0, m.bytes))
	m.bytes -= len(text)
	return text
}

// node is a part of a schema, or of a value.
type node struct {
	Name, Type, Text string
	Required, Cut    bool
	Children         []node
}

// members returns the members of an object; other values have none.
func members(raw json.RawMessage) map[string]json.RawMessage {
	var out map[string]json.RawMessage
	json.Unmarshal(raw, &out) // what is no object stays nil
	return out
}

func isObject(raw json.RawMessage) bool { return len(raw) > 0 && raw[0] == '{' }

// schemaNode shows a schema as a tree.
func schemaNode(name string, raw json.RawMessage, required bool, depth int, room *room) node {
	room.nodes--
	s := members(raw)
	n := node{Name: room.text(name), Type: typeOf(s), Required: required, Text: room.text(textOf(s["description"]))}
	if depth >= maxDepth || room.nodes <= 0 || room.bytes <= 0 {
		n.Cut = s["properties"] != nil || s["items"] != nil
		return n
	}
	needed := requiredOf(s)
	if properties := rawjson.Trim(orNull(s["properties"])); isObject(properties) {
		for key, child := range rawjson.Members(properties) {
			if room.nodes <= 0 {
				n.Cut = true
				break
			}
			n.Children = append(n.Children, schemaNode(string(key), child, needed[string(key)], depth+1, room))
		}
	}
	if items := s["items"]; isObject(items) && room.nodes > 0 {
		n.Children = append(n.Children, schemaNode("[ ]", items, false, depth+1, room))
	}
	return n
}

func orNull(raw json.RawMessage) json.RawMessage {
	if raw == nil {
		return json.RawMessage("null")
	}
	return raw
}

func textOf(raw json.RawMessage) (text string) {
	json.Unmarshal(raw, &text) // what is no text is ""
	return text
}

// typeOf returns the type of a schema, as far as it names one.
func typeOf(s map[string]json.RawMessage) string {
	if text := textOf(s["type"]); text != "" {
		return ui.Shown(text, 20)
	}
	var many []string
	if json.Unmarshal(s["type"], &many) == nil && len(many) > 0 {
		return ui.Shown(strings.Join(many, " | "), 60)
	}
	return "any"
}

func requiredOf(s map[string]json.RawMessage) map[string]bool {
	var names []string
	json.Unmarshal(s["required"], &names) // what is no list names none
	out := map[string]bool{}
	for _, name := range names {
		out[name] = true
	}
	return out
}

// valueNode shows a value as a tree.
func valueNode(name string, raw json.RawMessage, depth int, room *room) node {
	room.nodes--
	raw = rawjson.Trim(raw)
	n := node{Name: room.text(name)}
	switch raw[0] {
	case '"':
		n.Text = room.text(textOf(raw))
		return n
	case '{', '[':
	default:
		n.Text = room.text(string(raw))
		return n
	}
	if depth >= maxDepth || room.nodes <= 0 || room.bytes <= 0 {
		n.Cut = true
		return n
	}
	add := func(key string, child json.RawMessage) bool {
		if room.nodes <= 0 {
			n.Cut = true
			return false
		}
		n.Children = append(n.Children, valueNode(key, child, depth+1, room))
		return true
	}
	if raw[0] == '{' {
		for key, child := range rawjson.Members(raw) {
			if !add(string(key), child) {
				break
			}
		}
		return n
	}
	i := 0
	for child := range rawjson.Elements(raw) {
		if !add(fmt.Sprint(i), child) {
			break
		}
		i++
	}
	return n
}

// field is a field of a form that is made from a schema.
type field struct {
	ID, Name, Kind, Hint, Value string // Kind: text, number, bool, enum, json or group
	Required                    bool
	Options                     []string // of enum, as JSON
	Fields                      []field  // of group

	key string // of the object
}

// fieldsOf makes the form of an object schema: nested objects are groups, one level deep.
func fieldsOf(schema json.RawMessage) []field { return fieldsIn(members(schema), "a", 0, newRoom()) }

func fieldsIn(s map[string]json.RawMessage, id string, depth int, room *room) (all []field) {
	properties := rawjson.Trim(orNull(s["properties"]))
	if !isObject(properties) {
		return nil
	}
	needed := requiredOf(s)
	for key, raw := range rawjson.Members(properties) {
		if len(all) == maxFields {
			break
		}
		p := members(raw)
		f := field{ID: fmt.Sprintf("%s.%d", id, len(all)), Name: ui.Shown(string(key), 60), Required: needed[string(key)],
			Hint: room.text(textOf(p["description"])), key: string(key)}
		f.Kind = kindOf(p)
		switch f.Kind {
		case "enum":
			var options []json.RawMessage
			json.Unmarshal(p["enum"], &options)
			for _, o := range options {
				f.Options = append(f.Options, string(o))
			}
		case "group":
			if depth == 0 {
				f.Fields = fieldsIn(p, f.ID, 1, room)
			}
			if len(f.Fields) == 0 {
				f.Kind, f.Value = "json", map[bool]string{true: "{}"}[f.Required]
			}
		}
		all = append(all, f)
	}
	return all
}

const maxOptions = 50

func kindOf(p map[string]json.RawMessage) string {
	var options []json.RawMessage
	if json.Unmarshal(p["enum"], &options) == nil && len(options) > 0 && len(options) <= maxOptions &&
		len(p["enum"]) < 2<<10 {
		return "enum"
	}
	switch typeOf(p) {
	case "string":
		return "text"
	case "integer", "number":
		return "number"
	case "boolean":
		return "bool"
	case "object":
		return "group"
	}
	return "json"
}

// fill writes what was typed into the fields again.
func fill(fields []field, form url.Values) {
	for i := range fields {
		fields[i].Value, _ = cutMarkup(form.Get(fields[i].ID), 2<<10)
		fill(fields[i].Fields, form)
	}
}

// argumentsOf makes the arguments from a form. An empty field is left out, if it may be.
func argumentsOf(fields []field, form url.Values) (json.RawMessage, error) {
	out := []byte{'{'}
	for _, f := range fields {
		value, err := f.argument(form)
		if err != nil {
			return nil, err
		}
		if value == nil {
			continue
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(append(rawjson.AppendString(out, f.key), ':'), value...)
	}
	return append(out, '}'), nil
}

// argument returns the value of a field as JSON; nil: it is left out.
func (f field) argument(form url.Values) (json.RawMessage, error) {
	if f.Kind == "group" {
		inner, err := argumentsOf(f.Fields, form)
		if err == nil && string(inner) == "{}" && !f.Required {
			inner = nil
		}
		return inner, err
	}
	text := strings.ReplaceAll(form.Get(f.ID), "\r\n", "\n")
	if f.Kind == "text" {
		if text == "" && !f.Required {
			return nil, nil
		}
		return rawjson.AppendString(nil, text), nil
	}
	text = strings.TrimSpace(text)
	switch {
	case text == "" && !f.Required:
		return nil, nil
	case text == "":
		return nil, adminapi.BadBody.Saying(f.Name + " is missing: fill it in")
	case !json.Valid([]byte(text)):
		return nil, adminapi.BadBody.Saying(f.Name + " is not " + map[bool]string{true: "a number",
			false: "JSON"}[f.Kind == "number"])
	}
	return json.RawMessage(text), nil
}
