package mcpbus

import (
	"bytes"
	"encoding/json"

	"github.com/keystile/keystile/internal/rawjson"
	"github.com/keystile/keystile/internal/restcall"
)

// Result holds the outcome of a call of a tool.
type Result struct {
	IsError    bool
	Content    []json.RawMessage // MCP content blocks
	Structured json.RawMessage   // structuredContent, any JSON; nil: none

	// Headers of the upstream's answer that help a model to go on, by name, for the _meta of the result: nil, or those
	// that Content tells too.
	Headers map[string]string

	Dispatched bool  // false: the call was refused before anything was sent
	Status     int   // HTTP status of the upstream's answer; 0: none came
	Bytes      int64 // of the upstream's answer
	Cause      error // why there is no answer; for the log
}

// fromREST converts the result of a call that was made by HTTP.
func fromREST(r restcall.Result) Result {
	out := Result{
		IsError: r.IsError, Content: make([]json.RawMessage, len(r.Content)), Structured: r.Structured,
		Dispatched: r.Dispatched, Status: r.Status, Bytes: r.Bytes, Cause: r.Cause,
	}
	if len(r.Headers) > 0 {
		out.Headers = make(map[string]string, len(r.Headers))
		for _, h := range r.Headers {
			out.Headers[h.Name] = h.Value
		}
	}
	for i := range r.Content {
		out.Content[i] = blockOf(&r.Content[i])
	}
	return out
}

// blockOf writes a block of content. Most are texts, which are written as encode does it.
func blockOf(c *restcall.Content) (block json.RawMessage) {
	if c.Type != "text" || c.Text == "" || c.MIMEType != "" {
		block, _ = encode(c) // texts and bytes never fail
		return block
	}
	block = append(make([]byte, 0, len(textBlock)+len(c.Text)+len(c.Text)/8+16), textBlock...)
	return append(rawjson.AppendString(append(block, `,"text":`...), c.Text), '}')
}

// textError returns an error result with a text for the model.
func textError(text string) Result {
	return fromREST(restcall.Result{IsError: true, Content: []restcall.Content{{Type: "text", Text: text}}})
}

// encode writes a result for the caller's revision, up to its _meta. Clients of legacy revisions refuse a result
// whose structuredContent is no object, so it is left out for them; links become texts before
// 2025-06-18.
func (c *toolCall) encode(r Result) ([]byte, error) {
	content, structured := r.Content, r.Structured
	if !c.modern {
		if !isObject(structured) {
			structured = nil
		}
		if !hasLinks(c.request.Header) {
			content = withoutLinks(content)
		}
	}
	size := len(structured) + 96
	for _, block := range content {
		size += len(block) + 1
	}
	out := append(make([]byte, 0, size), `{"content":[`...)
	var err error
	for i, block := range content {
		if i > 0 {
			out = append(out, ',')
		}
		if out, err = appendValue(out, block); err != nil {
			return nil, err
		}
	}
	out = append(out, ']')
	if len(structured) > 0 {
		if out, err = appendValue(append(out, `,"structuredContent":`...), structured); err != nil {
			return nil, err
		}
	}
	if r.IsError {
		out = append(out, `,"isError":true`...)
	}
	if c.modern {
		out = append(out, `,"resultType":"complete"`...)
	}
	return out, nil
}

// appendValue appends a value that an Invoker returned, on one line: an answer may be an event.
func appendValue(to []byte, value json.RawMessage) ([]byte, error) {
	const depth = 10_000 // as encoding/json
	if rawjson.Check(value, rawjson.Limits{Depth: depth}) == nil {
		return rawjson.AppendCompact(to, value), nil
	}
	if value == nil {
		value = json.RawMessage("null") // as encoding/json
	}
	var line bytes.Buffer // of what is not UTF-8, encoding/json takes more
	if err := json.Compact(&line, value); err != nil {
		return nil, err
	}
	return append(to, line.Bytes()...), nil
}

func isObject(raw json.RawMessage) bool {
	for _, c := range raw {
		if c != ' ' && c != '\n' && c != '\t' && c != '\r' {
			return c == '{'
		}
	}
	return false
}
