package people

import (
	"github.com/keystile/keystile/internal/record/forward"
	"github.com/keystile/keystile/storage/internal/clock"
	"github.com/keystile/keystile/storage/internal/document"
	"github.com/keystile/keystile/storage/service"
	"github.com/keystile/keystile/storage/tools"
)

// Store reads and writes these records. The zero value is none: storage.Open makes it.
type Store struct {
	docs    *document.Store
	clock   *clock.Clock
	service *service.Store
	tools   *tools.Store
}

// New is for package storage.
func New(docs *document.Store, clock *clock.Clock, service *service.Store, tools *tools.Store) *Store {
	return &Store{docs, clock, service, tools}
}

// carried keeps what a newer version has written into a record.
type carried = forward.Fields

// Every record has it: one without would lose what a newer version has written.
var _ = []carried{
	Consent{}.carried, Invitation{}.carried, Login{}.carried, OpenID{}.carried, skeleton{}.carried,
	skeletonsMade{}.carried,
	User{}.carried,
}

// Kinds are all kinds of these records, for package storage.
var Kinds = []document.AnyKind{
	adminFences, consents, invitations, logins, openIDs, skeletonMarks, skeletons, Users,
}
