// Package toolplan describes the tools of a capability as they are stored: what callers see of a
// [Tool], with the plan ([Call]) by which its arguments become one HTTP request. The registrar
// (package registry) writes them, the bus (package mcpbus) reads them.
//
// # Choices
//
// A plan is data and no code, and is made once, when a document is registered: calls need no document, and what a
// document says later changes nothing.
//
// Every property of a tool's schema is bound exactly once: to a [Param], a [Field], a [PartHeader] or the
// [Body]. The path template of the document is kept beside the public path, in which :id inside of :idx, or a
// literal :cancel, is ambiguous.
//
// The parts of a document that were left out are kept as [Skip]s with the tools, so that they are shown
// and not guessed. [Public] returns tools as everyone may see them, without their plans.
//
// The name of a tool on the bus is its capability's, two underscores and its own; names are letters,
// digits, _ and -, as strict clients demand.
package toolplan
