// Package tools shows the capabilities of the service, registers them, and calls their tools for the
// person who tries them.
//
// # Choices
//
// A tool that is tried is called as an API key of the person would call it: the same access rules,
// account, limits and audit. Schemas and answers come from outside: what is shown of them is bounded in
// depth and length, and is text.
package tools
