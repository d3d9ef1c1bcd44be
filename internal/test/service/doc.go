// Package service holds the tests that need a whole service, in a package for each room that they are about. They would
// stand beside the room if they cost its importers nothing: `go mod tidy` adds to a host's go.sum what the tests of an
// imported package import, so a test of the gateway that asks the provider for a token brings in the provider's
// dependencies. internal/test/archtest counts those lines.
//
// Tests of a room that need no other one stand beside it. internal/test/issuing has tokens for them.
package service
