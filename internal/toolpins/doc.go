// Package toolpins compares the tools that an upstream lists with those that the owner of its capability has
// accepted (decision 92).
//
// # Choices
//
// A tool is compared in everything that is stored of it: its text, its schema, its hints, and the name by which it is
// called there. The order of an object's members and the space between them are no difference, since servers
// write them as it happens. Neither is text that cannot be seen: it was taken out when the list was read.
//
// Tools are told apart by their name on the bus, and a tool is gone when the upstream no longer lists the name by which
// it is called there. So a new tool that takes the name of an accepted one is a change of that one, and
// calls go on to where they went.
package toolpins
