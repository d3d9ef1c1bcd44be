package rpc

import (
	"encoding/json"
	"errors"

	"github.com/keystile/keystile/internal/rawjson"
)

const (
	maxID      = 256    // bytes
	maxBatch   = 16     // messages
	maxDepth   = 72     // objects and arrays within each other
	maxMembers = 10_000 // of one object
)

// Message is a request or a notification.
type Message struct {
	ID     json.RawMessage // as it was sent: a string or a number; nil: a notification
	Method string
	Params Object
	Wrong  *Error // why it is neither; ID is there if it could be read
}

// IsRequest reports whether the sender waits for an answer.
func (m *Message) IsRequest() bool { return m.ID != nil }

// Object is a JSON object, or nothing at all.
type Object struct{ raw json.RawMessage }

// Get returns a member as it was sent, nil if there is none.
func (o Object) Get(name string) json.RawMessage {
	if o.raw != nil {
		for n, v := range rawjson.Members(o.raw) {
			if string(n) == name {
				return v
			}
		}
	}
	return nil
}

// Text returns a member that is a string.
func (o Object) Text(name string) (text string, ok bool) {
	if v := o.Get(name); len(v) > 0 && v[0] == '"' {
		return string(rawjson.Unquote(v)), true
	}
	return "", false
}

// True reports whether a member is true.
func (o Object) True(name string) bool { return string(o.Get(name)) == "true" }

// Object returns a member that is an object.
func (o Object) Object(name string) (inner Object, ok bool) {
	if v := o.Get(name); len(v) > 0 && v[0] == '{' {
		return Object{v}, true
	}
	return Object{}, false
}

// Read reads a body: one message, or, if batch is set, an array of 1 to 16. The error is
// that it cannot be read at all; a message that cannot be answered says so in Wrong.
func Read(body []byte) (messages []Message, batch bool, err *Error) {
	if err := sound(body); err != nil {
		return nil, false, err
	}
	body = rawjson.Trim(body)
	if body[0] != '[' {
		return []Message{read(body)}, false, nil
	}
	for v := range rawjson.Elements(body) {
		if len(messages) == maxBatch {
			return nil, true, &Error{Code: InvalidRequest, Text: "a batch has at most 16 messages: send them one by one"}
		}
		messages = append(messages, read(v))
	}
	if messages == nil {
		return nil, true, &Error{Code: InvalidRequest, Text: "the batch is empty: send one message"}
	}
	return messages, true, nil
}

// sound checks that a body is one JSON value with one meaning.
func sound(body []byte) *Error {
	switch err := rawjson.Check(body, rawjson.Limits{Depth: maxDepth, Once: true, Members: maxMembers}); {
	case err == nil:
		return nil
	case errors.Is(err, rawjson.ErrDepth):
		return invalid("the message is nested too deeply: at most 72 levels")
	case errors.Is(err, rawjson.ErrTwice):
		return invalid("the message names a member twice in one object: send each once")
	case errors.Is(err, rawjson.ErrMembers):
		return invalid("an object of the message has more than 10,000 members")
	}
	return &Error{Code: ParseError, Text: "the body is not one JSON value in UTF-8: send one message"}
}

func read(raw json.RawMessage) (m Message) {
	if raw[0] != '{' {
		m.Wrong = invalid("a message is a JSON object")
		return m
	}
	version, method, other := "", json.RawMessage(nil), false
	for name, v := range rawjson.Members(raw) {
		switch string(name) {
		case "jsonrpc":
			version = string(v)
		case "id":
			id, err := readID(v)
			if err != nil {
				m.Wrong = err
			}
			m.ID = id
		case "method":
			method = v
		case "params":
			if v[0] != '{' {
				m.Wrong = invalid("params is a JSON object, or left out")
			}
			m.Params = Object{v}
		case "result", "error":
			other = true
		}
	}
	switch {
	case m.Wrong != nil:
	case version != `"2.0"`:
		m.Wrong = invalid(`a message says "jsonrpc": "2.0"`)
	case method == nil && other:
		m.Wrong = invalid("this is a response, and nothing was asked: send requests and notifications")
	case method == nil || method[0] != '"':
		m.Wrong = invalid("a message names its method, a string, in lower case")
	default:
		m.Method = string(rawjson.Unquote(method))
	}
	return m
}

func readID(raw json.RawMessage) (json.RawMessage, *Error) {
	if c := raw[0]; c != '"' && c != '-' && (c < '0' || c > '9') {
		return nil, invalid("an id is a string or a number; a notification has none")
	}
	if len(raw) > maxID {
		return nil, invalid("an id has at most 256 bytes")
	}
	return raw, nil
}

func invalid(text string) *Error { return &Error{Code: InvalidRequest, Text: text} }
