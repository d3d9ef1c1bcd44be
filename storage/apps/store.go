package apps

import (
	"github.com/keystile/keystile/internal/record/forward"
	"github.com/keystile/keystile/storage/internal/document"
	"github.com/keystile/keystile/storage/internal/fence"
)

// Store reads and writes these records. The zero value is none: storage.Open makes it.
type Store struct {
	docs   *document.Store
	groups fence.Groups
}

// New is for package storage.
func New(docs *document.Store, groups fence.Groups) *Store { return &Store{docs, groups} }

// carried keeps what a newer version has written into a record.
type carried = forward.Fields

// Every record has it: one without would lose what a newer version has written.
var _ = []carried{App{}.carried, closedApp{}.carried, Order{}.carried, spent{}.carried}

// Kinds are all kinds of these records, for package storage.
var Kinds = []document.AnyKind{
	Apps, clientHosts, closedApps, Fences, Orders, Spents,
}
