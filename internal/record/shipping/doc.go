// Package shipping describes how far records have come that are shipped elsewhere, beside the store. It
// belongs to package gateway/stream, and package storage keeps it.
//
// A stream and its target have one Position, which whoever ships reads at the start and moves on behind each batch.
//
// # Choices
//
// The end of a batch is kept before it is sent and its beginning after it, so that a process that goes on from
// there sends the same bytes under the same name once more, and not others.
//
// Two processes that ship the same are told apart by the version of the Position: one of them goes on.
package shipping
