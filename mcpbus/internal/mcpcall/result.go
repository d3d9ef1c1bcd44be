package mcpcall

import (
	"encoding/json"

	"github.com/keystile/keystile/internal/rawjson"
)

// Result holds the outcome of a call: restcall.Result, but for the blocks of content,
// which are MCP's own and are kept as they were written.
type Result struct {
	IsError    bool
	Content    []json.RawMessage // blocks of content, never empty
	Structured json.RawMessage   // any JSON of at most 64 levels, as it was written; nil: none

	Dispatched bool  // false: the call was refused before anything was dialled
	Status     int   // of the answer's HTTP; 0: none came
	Bytes      int64 // of the answer's body, after decompression
	Cause      error // why there is no answer. For the log: it may name the upstream's address
}

func failed(f *Failure) Result {
	return Result{IsError: true, Content: []raw{textBlock(f.Text)}, Cause: f.Cause}
}

// maxBlocks bounds the content of a result.
const maxBlocks = 1000

// readResult checks and rebuilds a result of the upstream (MCP 2026-07-28, tools).
func readResult(m map[string]raw) Result {
	if v := m["resultType"]; v != nil {
		switch kind, _ := stringOf(v); kind {
		case "complete":
		case "input_required":
			return failed(failf("the upstream asks for more input before it goes on, which this service cannot pass on"))
		default:
			return failed(failf("the upstream gave a result of a kind that is not known here"))
		}
	}
	var r Result
	switch string(m["isError"]) {
	case "true":
		r.IsError = true
	case "", "false", "null":
	default:
		return failed(failf("the upstream gave a result that is not one of a tool: its isError is no boolean"))
	}
	content := m["content"]
	if present(content) && content[0] != '[' || !present(content) && m["structuredContent"] == nil {
		return failed(failf("the upstream gave a result that is not one of a tool: it has no content"))
	}
	if v := m["structuredContent"]; v != nil && rawjson.Check(v, rawjson.Limits{Depth: maxLevels}) == nil {
		r.Structured = v
	}
	if present(content) {
		for block := range rawjson.Elements(content) {
			if len(r.Content) == maxBlocks {
				return failed(failf("the upstream gave a result with more than %d blocks of content", maxBlocks))
			}
			r.Content = append(r.Content, readBlock(block))
		}
	}
	switch {
	case len(r.Content) > 0:
	case r.Structured != nil:
		r.Content = []raw{textBlock(string(r.Structured))} // for those who read texts only
	default:
		r.Content = []raw{textBlock("The tool answered without content.")}
	}
	return r
}
