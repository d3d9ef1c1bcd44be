// Package stash keeps for one user of the console, for at most an hour, what their next request goes on with: the
// document of a preview, and what a page is to say once, such as a new secret.
//
// It is compressed and sealed by a key of the store and a secret that is not stored where the content is: the id of the
// session, or an id that only the page of its user holds. A place has one content: the next replaces it. So what one
// user can have kept is bounded by their places, and ends by itself.
package stash

import (
	"context"
	"errors"
	"time"

	"github.com/keystile/keystile/internal/handle"
	"github.com/keystile/keystile/internal/sealbox"
	"github.com/keystile/keystile/storage"
)

const (
	kind     = "console stash"
	maxPlain = 17 << 20
	// maxSealed bounds what is stored: as the text of a document it fits into the 4 MiB that one has.
	maxSealed = 2800 << 10
)

var (
	// ErrTooLarge says that something is too large to be kept: over 17 MiB, or over 2.7 MiB when compressed.
	ErrTooLarge = errors.New("stash: it is too large to be kept")
	// ErrGone says that nothing is kept at a place, or not by this secret.
	ErrGone = errors.New("stash: there is nothing")
)

// Store keeps tickets and the key that they are sealed with; *storage.Store has it.
type Store interface {
	Ticket(ctx context.Context, id string) (storage.Ticket, error)
	SaveTicket(ctx context.Context, t storage.Ticket) (storage.Ticket, error)
	EndTicket(ctx context.Context, t storage.Ticket) error
	HMACKey(ctx context.Context, name string) (storage.Secret, error)
}

// Stash keeps contents.
type Stash struct{ store Store }

// New makes a Stash.
func New(store Store) *Stash { return &Stash{store} }

// Place names a content. All of it is needed to read it.
type Place struct {
	What   string // such as "document"
	Of     string // the user or the session that it belongs to
	At     string // which of theirs, such as a path
	Secret string `json:"-"` // seals it, and does not find it; "": the rest alone
}

func (p Place) id() string {
	return handle.Hash(kind + "\x00" + p.What + "\x00" + p.Of + "\x00" + p.At)
}

// Put keeps a content for so long, at most an hour, in place of what was there.
func (s *Stash) Put(ctx context.Context, at Place, content []byte, life time.Duration) error {
	packed, err := sealbox.Pack(content)
	if err != nil {
		return err
	}
	if len(content) > maxPlain || len(packed) > maxSealed {
		return ErrTooLarge
	}
	box, err := s.box(ctx, at)
	if err != nil {
		return err
	}
	now := time.Now().UTC()
	t := storage.Ticket{ID: at.id(), Kind: kind, Proof: box.Seal(packed), CreatedAt: now, ExpiresAt: now.Add(life)}
	for range 3 { // another request may put something there meanwhile
		old, err := s.store.Ticket(ctx, t.ID)
		if t.Version = old.Version; err != nil && !errors.Is(err, storage.ErrNotFound) {
			return err
		}
		_, err = s.store.SaveTicket(ctx, t)
		if !errors.Is(err, storage.ErrConflict) && !errors.Is(err, storage.ErrExists) {
			return err
		}
	}
	return storage.ErrConflict
}

// Get returns what is kept at a place, or ErrGone.
func (s *Stash) Get(ctx context.Context, at Place) ([]byte, error) {
	content, _, err := s.get(ctx, at)
	return content, err
}

// Take returns it once: of several requests one gets it, the others ErrGone.
func (s *Stash) Take(ctx context.Context, at Place) ([]byte, error) {
	content, t, err := s.get(ctx, at)
	if err != nil {
		return nil, err
	}
	err = s.store.EndTicket(ctx, t)
	if errors.Is(err, storage.ErrConflict) || errors.Is(err, storage.ErrNotFound) {
		err = ErrGone
	}
	if err != nil {
		return nil, err
	}
	return content, nil
}

func (s *Stash) get(ctx context.Context, at Place) ([]byte, storage.Ticket, error) {
	t, err := s.store.Ticket(ctx, at.id())
	if errors.Is(err, storage.ErrNotFound) || err == nil && (t.Kind != kind || !t.Live(time.Now())) {
		err = ErrGone
	}
	if err != nil {
		return nil, t, err
	}
	box, err := s.box(ctx, at)
	if err != nil {
		return nil, t, err
	}
	packed, err := box.Open(t.Proof)
	if err != nil {
		return nil, t, ErrGone
	}
	content, err := sealbox.Unpack(packed, maxPlain)
	return content, t, err
}

func (s *Stash) box(ctx context.Context, at Place) (sealbox.Box, error) {
	key, err := s.store.HMACKey(ctx, kind)
	if err != nil {
		return sealbox.Box{}, err
	}
	return sealbox.New(key, at.Secret, at)
}
