// Package parameters has tests of what authorize and token do with parameters that clients of other
// providers send: those of the registries and those of vendors, each absent, empty, repeated and malformed.
// A fuzz target puts anything else in their place.
package parameters
