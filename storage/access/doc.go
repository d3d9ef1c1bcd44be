// Package access describes who may use which tools: the access [List] of a capability, and the
// [Bundle], which names the tools that an agent is given. It keeps nothing: storage.Store does, and
// package mcpbus decides by them.
//
// A [Rule] lets a [Subject] use tools, or keeps it from them; the example has a list. A [Viewer] is
// somebody whose tools are asked for, a [Verdict] what is decided of one tool and by which rule, and an
// [Offer] what a page shows of tools to a person who has to choose.
//
// # Choices
//
// A rule that denies wins over those that allow, whatever their order: lists are written by several people. The owner
// of a capability, and administrators, need no rule that allows them.
//
// A list without any rule that allows leaves the default as it is, less what it denies. So denying one
// application takes one rule, and does not close the capability to everybody else.
//
// A rule that names no tools is about all of them, those to come included; one that names some is not about
// what is registered later.
//
// A bundle opens nothing by itself, and has no tools of a capability that has come to its owner after it was written:
// the name may have been somebody else's then.
//
// The roles and tiers that a subject may name are listed here and held to those of package storage by a
// test there: a subject of a misspelt role would match nobody without a word.
package access
