package authn

import (
	"sync/atomic"

	"github.com/keystile/keystile/storage/internal/clock"
	"github.com/keystile/keystile/storage/internal/document"
	"github.com/keystile/keystile/storage/secret"
	"github.com/keystile/keystile/storage/service"
	"github.com/keystile/keystile/storage/tools"
)

// Store reads and writes these records. The zero value is none: storage.Open makes it.
type Store struct {
	docs    *document.Store
	clock   *clock.Clock
	service *service.Store
	tools   *tools.Store
	sids    atomic.Pointer[secret.Secret]
}

// New is for package storage.
func New(docs *document.Store, clock *clock.Clock, service *service.Store, tools *tools.Store) *Store {
	return &Store{docs: docs, clock: clock, service: service, tools: tools}
}

// OfUser names the kinds of documents that are removed with their user. Each document has the index entry user=SUB.
var OfUser = []string{sessions.Name, factors.Name, apiKeys.Name, tickets.Name}

// Kinds are all kinds of these records, for package storage.
var Kinds = []document.AnyKind{
	apiKeyFences, apiKeys, factors, sessions, tickets,
}
