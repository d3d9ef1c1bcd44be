package tools

import (
	"github.com/keystile/keystile/internal/record/forward"
	"github.com/keystile/keystile/storage/internal/document"
	"github.com/keystile/keystile/storage/internal/fence"
)

// Store reads and writes these records. The zero value is none: storage.Open makes it.
type Store struct {
	docs      *document.Store
	groups    fence.Groups
	queued    chan struct{} // see Queued
	unpacking chan struct{} // holds one value for each list of tools that is being unpacked
}

// New is for package storage.
func New(docs *document.Store, groups fence.Groups) *Store {
	return &Store{docs: docs, groups: groups, queued: make(chan struct{}, 1), unpacking: make(chan struct{}, maxUnpacking)}
}

// carried keeps what a newer version has written into a record.
type carried = forward.Fields

// Every record has it: one without would lose what a newer version has written.
var _ = []carried{Capability{}.carried, Delivery{}.carried, memberName{}.carried, toolset{}.carried}

// Kinds are all kinds of these records, for package storage.
var Kinds = []document.AnyKind{
	accessLists, bundles, Capabilities, CapabilityFences, deliveries, heldTools, memberNames, toolsets,
}
