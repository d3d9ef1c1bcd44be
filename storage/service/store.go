package service

import (
	"github.com/keystile/keystile/internal/record/forward"
	"github.com/keystile/keystile/storage/internal/clock"
	"github.com/keystile/keystile/storage/internal/document"
)

// Store reads and writes these records. The zero value is none: storage.Open makes it.
type Store struct {
	docs  *document.Store
	clock *clock.Clock
}

// New is for package storage.
func New(docs *document.Store, clock *clock.Clock) *Store { return &Store{docs, clock} }

// carried keeps what a newer version has written into a record.
type carried = forward.Fields

// Every record has it: one without would lose what a newer version has written.
var _ = []carried{
	applying{}.carried, Checkpoint{}.carried, Declared{}.carried, hmacKey{}.carried, keySet{}.carried, Mail{}.carried,
	Setting{}.carried, SigningKey{}.carried,
	usageMark{}.carried,
}

// Kinds are all kinds of these records, for package storage.
var Kinds = []document.AnyKind{
	applyings, beats, checkpoints, declareds, hmacKeys, issuers, keyedCalls, keySets, leases, mails, rankings, settings,
	signingKeys, streams, usageMarks,
}
