// Package rpc reads JSON-RPC 2.0 messages as MCP uses them (MCP 2026-07-28, basic).
//
// Nothing is converted: ids and parameters stay the bytes that were sent, so an id goes back as it
// came and no number is rounded.
//
// # Choices
//
// A message that two readers might understand differently is refused: names that occur
// twice, at any depth; text that is not UTF-8; values nested more than 72 deep, which is 64
// for the arguments of a tool and some for what is around them. Names have one spelling of
// upper and lower case, unlike with encoding/json.
package rpc
