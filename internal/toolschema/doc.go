// Package toolschema turns schemas of strangers into input schemas that every client of
// the bus can read.
//
// A [Document] is what schemas are read from and refer into; a [Projection] is the view
// of it for one tool; an [Input] is what the tool shows: the JSON Schema 2020-12 of an
// object of named arguments, without $ref, without boolean schemas, without extensions,
// bounded in depth, size and the steps it takes to find out. [Sanitize] does all of it
// for the input schema of a foreign tool.
//
// # Choices
//
// A keyword that is not understood, or is wrong, is left out: that widens a schema, so
// that a client may send what the upstream refuses, but never refuses what the upstream
// would take. For the same reason oneOf becomes anyOf, whose branches may overlap once
// they are simplified, and a choice with one branch that can not be shown is left out
// whole. A pattern stays only if it means the same to RE2 and to ECMA-262.
//
// One schema of a tool that a client can not read costs it the whole list of tools: the
// TypeScript SDK refuses a list in which one property is `true`, and Go clients one that
// holds 1e999. So numbers beyond float64 go too, while integers keep every digit.
package toolschema
