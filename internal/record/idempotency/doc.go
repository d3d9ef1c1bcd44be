// Package idempotency holds what is remembered of a call that its client may repeat.
//
// The gateway remembers a call with an Idempotency-Key for a day, so that it is charged once; package storage
// keeps it, and nothing else reads it.
//
// # Choices
//
// A Call holds a hash and no part of the call: neither who called nor what can be read from a store or a backup.
//
// It ends by itself. A store in which many are kept grows by what a day brings, within the bounds of the gateway.
package idempotency
