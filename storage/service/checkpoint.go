package service

import (
	"context"
	"errors"
	"fmt"

	"github.com/keystile/keystile/storage/internal/document"
	"github.com/keystile/keystile/storage/secret"
)

// Checkpoint stands for the audit records that were removed. Text belongs to the trail and is
// sealed as a whole: a writer without the master key can neither make nor change one.
//
// Audit records are removed by their Seq, oldest first, never by name. The checkpoint that
// stands for them is sealed here, because the master key is; its content is the trail's
// (internal/audit). It is written before the first of them is removed.
type Checkpoint struct {
	Text    secret.Secret `json:"-"`
	Version int64         `json:"-"` // 0: there is none

	carried
}

// ErrCheckpoint: there is a checkpoint, and it was not written by this service, or was changed.
var ErrCheckpoint = errors.New("storage: the audit checkpoint does not open: it was changed, or was made without the " +
	"master key")

const checkpointID = "audit"

var checkpoints = document.Kind[Checkpoint]{
	Name:    "checkpoint",
	ID:      func(Checkpoint) string { return checkpointID },
	Index:   func(Checkpoint) []string { return []string{"all"} },
	Version: func(c *Checkpoint) *int64 { return &c.Version },
	Secrets: func(c *Checkpoint) map[string]*secret.Secret { return map[string]*secret.Secret{"text": &c.Text} },
}

// Checkpoint returns the checkpoint, or one with Version 0 if there is none. It returns
// ErrCheckpoint if the stored one cannot be opened.
func (s *Store) Checkpoint(ctx context.Context) (Checkpoint, error) {
	d, err := document.Backend(s.docs).Get(ctx, checkpoints.Name, checkpointID)
	if errors.Is(err, document.ErrNotFound) {
		return Checkpoint{}, nil
	}
	if err != nil {
		return Checkpoint{}, document.Unavailable("get the checkpoint", err)
	}
	c, err := checkpoints.Record(s.docs, d)
	if err == nil && c.Text.IsZero() {
		err = errors.New("it holds no sealed text")
	}
	if err != nil {
		return Checkpoint{}, fmt.Errorf("%w: %w", ErrCheckpoint, err)
	}
	return c, nil
}

// SaveCheckpoint replaces the checkpoint that was read, or returns ErrConflict if it has
// changed since.
func (s *Store) SaveCheckpoint(ctx context.Context, c Checkpoint) (Checkpoint, error) {
	return document.Replace(ctx, s.docs, checkpoints, c)
}
