package document

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/state"
	"github.com/keystile/keystile/storage/transfer"
)

// firstVersion is the version that began to keep the list.
const firstVersion = "v0.1.0"

var (
	ConsentRevocations = state.Feature{Name: "revocations of consents", Since: firstVersion}
	ToolAccess         = state.Feature{Name: "access lists of tools", Since: firstVersion}
	DefaultAccess      = state.Feature{Name: "default access to tools", Since: firstVersion}
	DeniedClients      = state.Feature{Name: "trusted and denied hosts of clients", Since: firstVersion}
	UserKeys           = state.Feature{Name: "API keys of users", Since: firstVersion}
	SecondFactors      = state.Feature{Name: "second factors", Since: firstVersion}
	Counting           = state.Feature{Name: "stored counters and search", Since: firstVersion}
	Outgoing           = state.Feature{Name: "back-channel logout and user events", Since: firstVersion}
	Groups             = state.Feature{Name: "groups of users", Since: "v0.2.0"}
	Admission          = state.Feature{Name: "who may use an application", Since: "v0.2.0"}
	ClientKeys         = state.Feature{Name: "keys of applications in place of the appkey", Since: "v0.2.0"}
	ForeignPasswords   = state.Feature{Name: "password hashes of other products", Since: "v0.2.0"}
)

// Features returns the features that this version knows.
func Features() []state.Feature {
	return []state.Feature{ConsentRevocations, ToolAccess, DefaultAccess, DeniedClients, UserKeys, SecondFactors, Counting,
		Outgoing, Groups, Admission, ClientKeys, ForeignPasswords}
}

// format is the document that lists the features that every binary that opens the store must obey, each
// written down before the first fact that needs it. A version that does not know one is
// refused with ErrNewer and the name of the version that does. So a store goes back to the
// version before as long as nothing new was used in it. A version older than the list itself
// is kept out by the adapter: storage/bolt has a format of its own for that.
type format struct {
	Features []state.Feature `json:"features"`
	Version  int64           `json:"-"`
	carried
}

var formats = Kind[format]{
	Name:    "format",
	ID:      func(format) string { return formatID },
	Version: func(f *format) *int64 { return &f.Version },
}

const formatID = "features"

// featureMemo caches the features that are on the list, which only grows.
type featureMemo struct {
	mu     sync.Mutex
	listed map[string]bool
}

func (m *featureMemo) has(name string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.listed[name]
}

func (m *featureMemo) note(f format) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.listed = map[string]bool{}
	for _, has := range f.Features {
		m.listed[has.Name] = true
	}
}

// Features returns the features of the store, in the order in which they came.
func (s *Store) Features(ctx context.Context) ([]state.Feature, error) {
	f, err := Find(ctx, s, formats, formatID)
	return f.Features, err
}

// CheckFeatures fails with ErrNewer if the store has a feature that this version does not know,
// with ErrUnfinished if it is a copy that was not finished, and with ErrMoved if its copy is served in its place,
// unless the backend only reads. Nothing is written to it from then on.
func CheckFeatures(ctx context.Context, s *Store) error {
	has, err := s.Features(ctx)
	if err != nil {
		return err
	}
	for _, f := range has {
		if f.Name == transfer.Unfinished || f.Name == transfer.Moved {
			refused, err := transfer.Refusal(ctx, Adapter(s), f.Name)
			switch {
			case err != nil:
				return Unavailable("read the mark of a copy", err)
			case errors.Is(refused, ErrMoved):
				s.writes.left.Store(&refused)
			}
			if refused != nil {
				return refused
			}
			continue
		}
		if !slices.ContainsFunc(s.known, func(known state.Feature) bool { return known.Name == f.Name }) {
			return driver.Newer(fmt.Sprintf("it has the feature %q", f.Name), f.Since)
		}
	}
	s.features.note(format{Features: has})
	return nil
}

// HasFeature reports whether a feature is on the list, also if another process has added it.
func HasFeature(ctx context.Context, s *Store, asked state.Feature) (bool, error) {
	if s.features.has(asked.Name) {
		return true, nil
	}
	has, err := s.Features(ctx)
	return slices.ContainsFunc(has, func(f state.Feature) bool { return f.Name == asked.Name }), err
}

// RequireFeature adds a feature to the list, before the first write that it protects. A process that dies in between
// leaves a store that requires more than it needs.
func RequireFeature(ctx context.Context, s *Store, needed state.Feature) error {
	if s.features.has(needed.Name) {
		return nil
	}
	f, err := Update(ctx, s, formats, formatID, func(f *format) bool {
		there := slices.ContainsFunc(f.Features, func(has state.Feature) bool { return has.Name == needed.Name })
		if !there {
			f.Features = append(f.Features, needed)
		}
		return !there
	})
	if err == nil {
		s.features.note(f)
	}
	return err
}
