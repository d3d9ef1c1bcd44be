package mcpbus

import (
	"encoding/json"

	"github.com/keystile/keystile/internal/restcall"
)

// Result holds the outcome of a call of a tool.
type Result struct {
	IsError    bool
	Content    []json.RawMessage // MCP content blocks
	Structured json.RawMessage   // structuredContent, any JSON; nil: none

	Dispatched bool  // false: the call was refused before anything was sent
	Status     int   // HTTP status of the upstream's answer; 0: none came
	Bytes      int64 // of the upstream's answer
	Cause      error // why there is no answer; for the log
}

// fromREST converts the result of a call that was made by HTTP.
func fromREST(r restcall.Result) Result {
	out := Result{r.IsError, make([]json.RawMessage, len(r.Content)), r.Structured, r.Dispatched, r.Status, r.Bytes, r.Cause}
	for i, block := range r.Content {
		out.Content[i], _ = encode(block) // texts and bytes never fail
	}
	return out
}

// textError returns an error result with a text for the model.
func textError(text string) Result {
	return fromREST(restcall.Result{IsError: true, Content: []restcall.Content{{Type: "text", Text: text}}})
}

// encode writes a result for the caller's revision, up to its _meta. Clients of legacy revisions refuse a result
// whose structuredContent is no object, so it is left out for them; links become texts before
// 2025-06-18.
func (c *toolCall) encode(r Result) ([]byte, error) {
	out := struct {
		Content    []json.RawMessage `json:"content"`
		Structured json.RawMessage   `json:"structuredContent,omitempty"`
		IsError    bool              `json:"isError,omitempty"`
		Type       string            `json:"resultType,omitempty"`
	}{Content: r.Content, Structured: r.Structured, IsError: r.IsError}
	if out.Content == nil {
		out.Content = []json.RawMessage{}
	}
	if c.modern {
		out.Type = "complete"
	} else {
		if !isObject(r.Structured) {
			out.Structured = nil
		}
		if !hasLinks(c.request.Header) {
			out.Content = withoutLinks(out.Content)
		}
	}
	body, err := encode(out)
	if err != nil {
		return nil, err
	}
	return body[:len(body)-1], nil
}

func isObject(raw json.RawMessage) bool {
	for _, c := range raw {
		if c != ' ' && c != '\n' && c != '\t' && c != '\r' {
			return c == '{'
		}
	}
	return false
}
