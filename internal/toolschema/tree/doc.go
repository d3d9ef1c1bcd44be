// Package tree reads JSON of strangers once, into values that are small, sorted and keep
// every digit.
//
// A value is nil, a bool, a [Number], a string, an [Array] or an [Object]. Depth is
// bounded while reading, so what walks a tree may recurse.
//
// # Choices
//
// Why not encoding/json: an any tree of a 14 MB document costs it five times the
// document in maps, and 1e999 fails the whole of it. Here the members of an object are
// one slice, sorted by key: a walk meets them in the same order however the document was
// written, a lookup is a binary search, and nothing is built after reading. A fuzz test
// holds the reader to what encoding/json accepts.
//
// Strings and numbers are parts of the text that was read and keep all of it in memory:
// clone what outlives the tree.
package tree
