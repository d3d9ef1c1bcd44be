package authn

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/keystile/keystile/storage/apikey"
	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/internal/document"
	"github.com/keystile/keystile/storage/internal/fence"
)

var (
	apiKeys = document.Kind[apikey.Key]{
		Name:    "apikey",
		ID:      func(k apikey.Key) string { return k.ID },
		Index:   func(k apikey.Key) []string { return []string{"user=" + k.UserID} },
		Expires: func(k apikey.Key) time.Time { return k.ExpiresAt },
		Version: func(k *apikey.Key) *int64 { return &k.Version },
	}
	apiKeyFences = document.Kind[apikey.Fence]{
		Name:    "apikeyfence",
		ID:      func(f apikey.Fence) string { return f.UserID },
		Expires: func(f apikey.Fence) time.Time { return f.ExpiresAt },
		Version: func(f *apikey.Fence) *int64 { return &f.Version },
	}
)

// CreateAPIKey makes an API key, from now on. Of a user who has apikey.MaxLive valid ones it makes
// none and returns apikey.ErrTooMany. If all keys of the user are ended meanwhile, it is ErrConflict, and
// ErrNotFound if the user is being erased.
func (s *Store) CreateAPIKey(ctx context.Context, k apikey.Key, life time.Duration) (apikey.Key, error) {
	date := func() error {
		k.CreatedAt = s.clock.Later(time.Now()).UTC()
		k.ExpiresAt = k.CreatedAt.Add(life)
		return k.Check()
	}
	if err := date(); err != nil {
		return k, err
	}
	if err := document.RequireFeature(ctx, s.docs, document.UserKeys); err != nil {
		return k, err
	}
	if err := date(); err != nil { // after the feature: see endAPIKeys
		return k, err
	}
	for {
		fence, all, err := s.fencedKeys(ctx, k.UserID)
		if err != nil {
			return k, err
		}
		switch {
		case live(all, k.CreatedAt) >= apikey.MaxLive:
			return k, apikey.ErrTooMany
		case k.CreatedAt.Before(fence.Ended):
			return k, fmt.Errorf("%w: all keys of the user were ended", document.ErrConflict)
		}
		version, err := s.writeKey(ctx, fence, k)
		if document.LostRace(err, apiKeyFences.Name) {
			continue // another one was made, or all were ended; each round one of them gets through
		}
		if k.Version = version; err == nil {
			err = document.UnlessErased(ctx, s.docs, k.UserID, version, driver.Doc{Kind: apiKeys.Name, ID: k.ID})
		}
		return k, err
	}
}

func live(all []apikey.Key, at time.Time) (n int) {
	for _, k := range all {
		if k.Live(at) {
			n++
		}
	}
	return n
}

// fencedKeys returns the keys of a user, and before them the fence.
func (s *Store) fencedKeys(ctx context.Context, sub string) (apikey.Fence, []apikey.Key, error) {
	f, err := document.Find(ctx, s.docs, apiKeyFences, sub)
	if err != nil {
		return f, nil, err
	}
	f.UserID, f.ExpiresAt = sub, s.clock.Later(time.Now()).Add(fence.Life)
	all, err := s.APIKeys(ctx, sub)
	return f, all, err
}

func (s *Store) writeKey(ctx context.Context, f apikey.Fence, k apikey.Key) (int64, error) {
	fence, err := apiKeyFences.Doc(s.docs, f)
	if err != nil {
		return 0, err
	}
	key, err := apiKeys.Doc(s.docs, k)
	if err != nil {
		return 0, err
	}
	return document.Write(ctx, s.docs, fence, key)
}

// APIKey returns an API key, given handle.Hash of its text, ended ones included until they are
// swept, or ErrNotFound.
func (s *Store) APIKey(ctx context.Context, id string) (apikey.Key, error) {
	return document.Get(ctx, s.docs, apiKeys, id)
}

// APIKeys returns the API keys of a user (a sub), ended ones included until they are swept.
func (s *Store) APIKeys(ctx context.Context, sub string) ([]apikey.Key, error) {
	return document.All(ctx, s.docs, apiKeys, driver.Is("user="+sub))
}

// UseAPIKey notes that a key was used, if it was read before and has not been removed since.
func (s *Store) UseAPIKey(ctx context.Context, k apikey.Key, at time.Time) (apikey.Key, error) {
	k.UsedAt = at.UTC()
	return document.Put(ctx, s.docs, apiKeys, k)
}

// RemoveAPIKey removes an API key. The caller first stores a revocation of kind jti of its ID, which
// ends it in processes that have seen it.
func (s *Store) RemoveAPIKey(ctx context.Context, id string) error {
	_, err := document.RetryOnConflict(ctx, func() (apikey.Key, error) {
		k, err := s.APIKey(ctx, id)
		if err == nil {
			err = document.Remove(ctx, s.docs, apiKeys, k)
		}
		return k, err
	})
	if errors.Is(err, document.ErrNotFound) {
		return nil
	}
	return err
}

// EndAPIKeys removes the keys that a user has made before they are signed out everywhere: such a
// revocation is kept for as long as a token may live, and keys live longer.
func (s *Store) EndAPIKeys(ctx context.Context, sub string, before time.Time) error {
	for {
		fence, all, err := s.fencedKeys(ctx, sub)
		if err != nil {
			return err
		}
		if fence.Version == 0 && len(all) == 0 {
			if made, err := document.HasFeature(ctx, s.docs, document.UserKeys); err != nil || !made {
				return err // no key was ever made in this store, and one that is being made is dated later
			}
		}
		if before.After(fence.Ended) {
			fence.Ended = before.UTC()
		}
		stands, err := apiKeyFences.Doc(s.docs, fence)
		if err != nil {
			return err
		}
		docs := []driver.Doc{stands}
		for _, k := range all {
			if k.CreatedAt.Before(before) && len(docs) < document.MaxDocs {
				docs = append(docs, driver.Doc{Kind: apiKeys.Name, ID: k.ID, Version: k.Version, Deleted: true})
			}
		}
		_, err = document.Write(ctx, s.docs, docs...)
		if document.LostRace(err, apiKeyFences.Name, apiKeys.Name) {
			continue // one was made, used or removed meanwhile
		}
		if err != nil || len(docs) < document.MaxDocs {
			return err
		}
	}
}
