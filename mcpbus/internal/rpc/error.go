package rpc

import "encoding/json"

// Codes of errors: those of JSON-RPC 2.0, and of MCP 2026-07-28.
const (
	ParseError         = -32700
	InvalidRequest     = -32600
	MethodNotFound     = -32601
	InvalidParams      = -32602
	InternalError      = -32603
	ServerError        = -32000 // refused by what stands around the protocol
	HeaderMismatch     = -32020
	UnsupportedVersion = -32022
)

// Error is the error of a message, as it is written. Text says what to do.
type Error struct {
	Code int             `json:"code"`
	Text string          `json:"message"`
	Data json.RawMessage `json:"data,omitempty"`
}

func (e *Error) Error() string { return e.Text }
