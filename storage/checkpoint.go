package storage

import (
	"context"
	"errors"
	"fmt"
)

// Checkpoint stands for the audit records that were removed. Text belongs to the trail and is
// sealed as a whole: a writer without the master key can neither make nor change one.
type Checkpoint struct {
	Text    Secret `json:"-"`
	Version int64  `json:"-"` // 0: there is none

	carried
}

const checkpointID = "audit"

var checkpoints = kind[Checkpoint]{
	name:    "checkpoint",
	id:      func(Checkpoint) string { return checkpointID },
	index:   func(Checkpoint) []string { return []string{"all"} },
	version: func(c *Checkpoint) *int64 { return &c.Version },
	secrets: func(c *Checkpoint) map[string]*Secret { return map[string]*Secret{"text": &c.Text} },
}

// Checkpoint returns the checkpoint, or one with Version 0 if there is none. It returns
// ErrCheckpoint if the stored one cannot be opened.
func (s *Store) Checkpoint(ctx context.Context) (Checkpoint, error) {
	d, err := s.backend.Get(ctx, checkpoints.name, checkpointID)
	if errors.Is(err, ErrNotFound) {
		return Checkpoint{}, nil
	}
	if err != nil {
		return Checkpoint{}, unavailable("get the checkpoint", err)
	}
	c, err := checkpoints.record(s, d)
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
	saved, err := checkpoints.put(ctx, s, c)
	if errors.Is(err, ErrExists) {
		err = fmt.Errorf("%w: %w", ErrConflict, err)
	}
	return saved, err
}
