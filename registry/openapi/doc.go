// Package openapi turns OpenAPI documents into tools of the bus.
//
// [Parse] is a pure function from a document, of OpenAPI 2.0 to 3.2, to tools, each with the plan by which its
// arguments become a request; [StaticTools] does the same for a list that was filled in by hand; [Advise] returns
// what a strict validator says of a document. Package registry stores the tools, and package mcpbus calls them.
//
// A document is read once into a tree, operations are listed and named, and each is built alone: its parameters and
// body become arguments, the arguments get names, and every argument is bound to one place. A piece that cannot be
// read is left out and listed, with its JSON pointer; it never costs the rest. Nothing of a document vanishes: an
// operation, a parameter, a field or a media type is in a tool, or in the list of the parts that were left out.
//
// # Errors
//
// A document that cannot be read, or is past its limits, is refused as a whole with a [Rejection], never cut; a tool
// past its own limits is left out.
//
// # Limits
//
// The pieces of a document refer to each other, so a few kilobytes can cause any amount of work. So the work is
// limited, not only the input: steps for one tool and for all of them, schemas, bytes. [Options] has the limits. A
// document of 14 MB takes 100 MB while it is read, and 250 MB if it is YAML.
//
// # Choices
//
// Servers, host and basePath are not followed: a document must not choose where calls go, nor, by a path with dot
// segments, leave the path of the upstream. Documents are not read by kin-openapi: its loader refuses a document for
// one dangling reference, takes minutes for a hostile one of 100 KB and panics on a null. The other reasons stand
// with the types and functions in question.
//
// It is one package because reading a document is one walk, whose parts draw on one budget of work and skip into one
// list.
package openapi
