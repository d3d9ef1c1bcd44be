package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/keystile/keystile/cmd/keystile/admin"
	"github.com/keystile/keystile/cmd/keystile/config"
	"github.com/keystile/keystile/cmd/keystile/internal/folder"
	"github.com/keystile/keystile/oauth/signin"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/bolt"
)

// home is an opened data folder: the store in it, and its users. Close closes the store.
type home struct {
	*folder.Folder
	io.Closer
	store *storage.Store
	users *signin.StoreUsers
}

// openHome opens the store in a data folder. Nobody else has it open until Close.
func openHome(ctx context.Context, c *config.Config, f *folder.Folder) (*home, error) {
	key, from := c.MasterKey, "KEYSTILE_MASTER_KEY"
	if key.Text() == "" {
		var err error
		if key, from, err = f.MasterKey(c.MasterKeyFile); err != nil {
			return nil, err
		}
	}
	backend, err := bolt.Open(f.Database(), bolt.Options{})
	if err != nil {
		return nil, err
	}
	store, err := storage.Open(ctx, backend, key)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w (the key came from %s)", f.Database(), err, from), backend.Close())
	}
	// An umask may have taken even the owner's right to write.
	if err := os.Chmod(f.Database(), 0o600); err != nil {
		return nil, errors.Join(err, backend.Close())
	}
	return &home{Folder: f, Closer: backend, store: store, users: signin.NewUsers(store, nil)}, nil
}

func (h *home) rooms() admin.Rooms { return admin.Rooms{Store: h.store, Users: h.users} }

// openRooms is openHome for the admin commands.
func openRooms(ctx context.Context, c *config.Config, f *folder.Folder) (admin.Rooms, io.Closer, error) {
	h, err := openHome(ctx, c, f)
	if err != nil {
		return admin.Rooms{}, nil, err
	}
	return h.rooms(), h, nil
}
