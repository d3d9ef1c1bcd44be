package storage

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/transfer"
)

// A Feature is a fact in the store that every binary that opens it must obey: one that
// ignored it would let in what the fact keeps out, or forget what it keeps. It is written
// before the first such fact, so a store in which nothing new was used can still be opened
// by the version before. What merely adds is no feature: unknown fields survive a rewrite
// anyway.
//
// A new kind of document that a check depends on is a feature, and so is a new kind of
// revocation, a setting that narrows, and a sealed text in a kind that had none: a binary
// that does not know of it would leave it behind when the master key changes.
type Feature struct {
	Name  string `json:"name"`
	Since string `json:"since"` // the version of Keystile that brought it
}

// firstVersion is the version that began to keep the list.
const firstVersion = "v0.1.0"

var (
	consentRevocations = Feature{"revocations of consents", firstVersion}
	toolAccess         = Feature{"access lists of tools", firstVersion}
	defaultAccess      = Feature{"default access to tools", firstVersion}
	deniedClients      = Feature{"trusted and denied hosts of clients", firstVersion}
	userKeys           = Feature{"API keys of users", firstVersion}
	secondFactors      = Feature{"second factors", firstVersion}
	counting           = Feature{"stored counters and search", firstVersion}
	outgoing           = Feature{"back-channel logout and user events", firstVersion}
)

var features = []Feature{consentRevocations, toolAccess, defaultAccess, deniedClients, userKeys, secondFactors, counting, outgoing}

// Features returns the features that this version knows.
func Features() []Feature { return slices.Clone(features) }

// format is the document that lists the features of a store.
type format struct {
	Features []Feature `json:"features"`
	Version  int64     `json:"-"`
	carried
}

var formats = kind[format]{
	name:    "format",
	id:      func(format) string { return formatID },
	version: func(f *format) *int64 { return &f.Version },
}

const formatID = "features"

// featureMemo caches the features that are on the list. They are never removed.
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
func (s *Store) Features(ctx context.Context) ([]Feature, error) {
	f, err := formats.get(ctx, s, formatID)
	if errors.Is(err, ErrNotFound) {
		return nil, nil
	}
	return f.Features, err
}

// checkFeatures fails with ErrNewer if the store has a feature that this version does not know,
// and with ErrUnfinished if it is a copy that was not finished.
func (s *Store) checkFeatures(ctx context.Context) error {
	has, err := s.Features(ctx)
	if err != nil {
		return err
	}
	for _, f := range has {
		if f.Name == transfer.Unfinished {
			return s.unfinished(ctx)
		}
		if !slices.ContainsFunc(features, func(known Feature) bool { return known.Name == f.Name }) {
			return driver.Newer(fmt.Sprintf("it has the feature %q", f.Name), f.Since)
		}
	}
	s.features.note(format{Features: has})
	return nil
}

func (s *Store) unfinished(ctx context.Context) error {
	mark, err := transfer.ReadMark(ctx, s.backend)
	if err != nil {
		return unavailable("read the mark of a copy", err)
	}
	if mark == nil {
		return ErrUnfinished // the copy has ended, or its mark was changed
	}
	return mark.Err()
}

// hasFeature reports whether a feature is on the list, also if another process has added it.
func (s *Store) hasFeature(ctx context.Context, asked Feature) (bool, error) {
	if s.features.has(asked.Name) {
		return true, nil
	}
	has, err := s.Features(ctx)
	return slices.ContainsFunc(has, func(f Feature) bool { return f.Name == asked.Name }), err
}

// requireFeature adds a feature to the list, before the first write that it protects: a process that
// dies in between leaves a store that requires more than necessary.
func (s *Store) requireFeature(ctx context.Context, needed Feature) error {
	if s.features.has(needed.Name) {
		return nil
	}
	f, err := RetryOnConflict(ctx, func() (format, error) {
		f, err := formats.get(ctx, s, formatID)
		if err != nil && !errors.Is(err, ErrNotFound) {
			return f, err
		}
		if slices.ContainsFunc(f.Features, func(has Feature) bool { return has.Name == needed.Name }) {
			return f, nil
		}
		f.Features = append(f.Features, needed)
		f, err = formats.put(ctx, s, f)
		if errors.Is(err, ErrExists) { // another process was first
			err = ErrConflict
		}
		return f, err
	})
	if err == nil {
		s.features.note(f)
	}
	return err
}
