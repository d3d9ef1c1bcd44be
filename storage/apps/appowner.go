package apps

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/internal/document"
	"github.com/keystile/keystile/storage/internal/fence"
	"github.com/keystile/keystile/storage/secret"
)

// ErrTooManyApps: the owner has as many applications as they may.
var ErrTooManyApps = fmt.Errorf("%w: no more applications", document.ErrInvalid)

// maxSecrets is the maximum number of valid secrets of one application: the new one and the
// one before it.
const maxSecrets = 2

// RotateSecret gives the application a new secret. The one before it stays valid for the
// overlap and not longer. An older one ends at once: an owner who learns that it has
// leaked rotates again, and the one in use stays valid. Without an overlap all end at
// once.
func (a *App) RotateSecret(now time.Time, overlap time.Duration) error {
	if a.Public {
		return fmt.Errorf("%w: %s is public: it has no secret", document.ErrInvalid, a.ID)
	}
	secrets := []AppSecret{{Secret: secret.Draw(), CreatedAt: now}}
	for _, s := range a.Secrets {
		if end := now.Add(overlap); s.ExpiresAt.IsZero() || end.Before(s.ExpiresAt) {
			s.ExpiresAt = end
		}
		if now.Before(s.ExpiresAt) && len(secrets) < maxSecrets {
			secrets = append(secrets, s)
		}
	}
	a.Secrets = secrets
	return nil
}

var Fences = document.Kind[fence.Fence]{
	Name:    "appfence",
	ID:      func(f fence.Fence) string { return f.Owner },
	Expires: func(f fence.Fence) time.Time { return f.ExpiresAt },
	Version: func(f *fence.Fence) *int64 { return &f.Version },
}

// CreateApp makes an application for an owner who may have at most so many, 0 for any number.
// It returns ErrTooManyApps if the owner has that many. limit is the quota until its reset; calls
// that the owner made in that period with applications since removed count against it. None
// of this applies to an application without an owner.
func (s *Store) CreateApp(ctx context.Context, a App, most int, limit Quota) (App, error) {
	if a.Owner == "" {
		return s.SaveApp(ctx, a)
	}
	a, err := a.Complete(time.Now().UTC())
	if err != nil {
		return a, err
	}
	for {
		stands, err := s.fenceOfApps(ctx, a.Owner)
		if err != nil {
			return a, err
		}
		if err := s.checkAppLimit(ctx, a.Owner, most); err != nil {
			return a, err
		}
		pool, err := s.spentBy(ctx, a.Owner)
		if err != nil {
			return a, err
		}
		a.Spent = pool.take(limit)
		made, err := s.writeFenced(ctx, a, pool, stands...)
		if ownerChanged(err) || document.LostRace(err, Spents.Name) {
			continue // another one was made or removed; each round one of them gets through
		}
		return made, err
	}
}

// fenceOfApps returns the documents that make a write fail if the owner has been given an application, or
// was erased or deleted, since. Nobody has none.
func (s *Store) fenceOfApps(ctx context.Context, owner string) ([]driver.Doc, error) {
	if owner == "" {
		return nil, nil
	}
	f, err := document.Find(ctx, s.docs, Fences, owner)
	if err != nil {
		return nil, err
	}
	if f, err = f.Of(owner); err != nil {
		return nil, err
	}
	stands, err := document.Docs(s.docs, Fences, f)
	if err != nil {
		return nil, err
	}
	of, err := s.groups.OwnerDocs(ctx, owner)
	return append(stands, of...), err
}

// ownerChanged reports whether a write failed because of what fenceOfApps returned.
func ownerChanged(err error) bool { return document.LostRace(err, Fences.Name, fence.GroupKind) }

func (s *Store) checkAppLimit(ctx context.Context, owner string, most int) error {
	if most == 0 {
		return nil
	}
	owned, _, err := s.Apps(ctx, owner, "", min(most, driver.Page))
	if err == nil && len(owned) >= most {
		err = ErrTooManyApps
	}
	return err
}

// writeFenced writes an application with its fence, and the remaining usage of removed ones.
func (s *Store) writeFenced(ctx context.Context, a App, pool spent, stands ...driver.Doc) (App, error) {
	if a.Spent.Calls == 0 {
		return WriteApp(ctx, s, a, document.Tally{}, stands...)
	}
	left, err := Spents.Doc(s.docs, pool)
	if err != nil {
		return a, err
	}
	return WriteApp(ctx, s, a, document.Tally{}, append(stands, left)...)
}

// closedApp keeps the fields of a removed application that settle its last months.
type closedApp struct {
	ID        string       `json:"id"`
	Name      string       `json:"name"`
	Owner     string       `json:"owner,omitempty"`
	Tier      string       `json:"tier"`
	Tiers     []TierChange `json:"tiers,omitempty"`
	Spent     Quota        `json:"spent,omitzero"`
	CreatedAt time.Time    `json:"created_at,omitzero"`
	ClosedAt  time.Time    `json:"closed_at"`
	Version   int64        `json:"-"`
	carried
}

var closedApps = document.Kind[closedApp]{
	Name:    "closedapp",
	ID:      func(c closedApp) string { return c.ID },
	Index:   func(c closedApp) []string { return append(document.Owned(c.Owner), "all") },
	Version: func(c *closedApp) *int64 { return &c.Version },
}

// app returns the fields of the application that a settlement needs.
func (c closedApp) app() App {
	return App{
		ID: c.ID, Name: c.Name, Owner: c.Owner, Tier: c.Tier, Tiers: c.Tiers, Spent: c.Spent, CreatedAt: c.CreatedAt,
		Disabled: true,
	}
}

// DeleteApp removes an application, and writes its orders that are canceled with it in the same
// step. Its tokens are ended by a revocation of kind app, which the caller writes first. The calls
// that it has used of the quota of its period are kept for its owner until the reset: see CreateApp.
// Package gateway/billing decides which orders are canceled and what counts as used.
func (s *Store) DeleteApp(ctx context.Context, a App, used Quota, canceled ...Order) error {
	if isBuiltIn(a.ID) {
		return errBuiltIn(a.ID)
	}
	now := time.Now().UTC()
	var change document.Tally
	countWithout(&change, a)
	canceled = slices.Clone(canceled)
	countOrders(&change, canceled)
	docs, err := document.Docs(s.docs, Orders, canceled...)
	if err != nil {
		return err
	}
	left, err := closedApps.Doc(s.docs, closedApp{
		ID: a.ID, Name: a.Name, Owner: a.Owner, Tier: a.Tier, Tiers: a.Tiers, Spent: a.Spent, CreatedAt: a.CreatedAt,
		ClosedAt: now,
	})
	if err != nil {
		return err
	}
	docs = append(docs, left, driver.Doc{Kind: Apps.Name, ID: a.ID, Version: a.Version, Deleted: true})
	if a.Owner == "" || used.Calls <= 0 || !now.Before(used.Until) {
		_, err = document.WriteCounted(ctx, s.docs, change, docs...)
		return err
	}
	for {
		pool, err := s.spentBy(ctx, a.Owner)
		if err != nil {
			return err
		}
		pool.add(used, now)
		d, err := Spents.Doc(s.docs, pool)
		if err != nil {
			return err
		}
		if _, err = document.WriteCounted(ctx, s.docs, change, append(slices.Clip(docs), d)...); !document.LostRace(err,
			Spents.Name) {
			return err
		}
	}
}

// ClosedApp returns the fields of a removed application that settle its last months, or
// ErrNotFound.
func (s *Store) ClosedApp(ctx context.Context, id string) (App, error) {
	c, err := document.Get(ctx, s.docs, closedApps, id)
	return c.app(), err
}

// ClosedApps returns a page of the applications that were removed, as far as closedApp does: all,
// or those of one owner (a sub).
func (s *Store) ClosedApps(ctx context.Context, owner, from string, n int) (page []App, next string, err error) {
	found, next, err := document.List(ctx, s.docs, closedApps, ownedSpan(owner, from), n)
	for _, c := range found {
		page = append(page, c.app())
	}
	return page, next, err
}

func ownedSpan(owner, from string) driver.Span {
	span := driver.Is("all")
	if owner != "" {
		span = driver.Is("owner=" + owner)
	}
	if from != "" {
		span.From = from
	}
	return span
}
