package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/keystile/keystile/internal/test/released"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/bolt"
	"github.com/keystile/keystile/storage/driver"
)

// open opens a data folder that nobody serves.
func (n node) open(ctx context.Context) (*storage.Store, driver.Backend, error) {
	key, err := os.ReadFile(filepath.Join(n.data, "master.key"))
	if err != nil {
		return nil, nil, err
	}
	master, err := storage.ParseMasterKey(strings.TrimSpace(string(key)))
	if err != nil {
		return nil, nil, err
	}
	backend, err := bolt.Open(filepath.Join(n.data, "keystile.db"), bolt.Options{})
	if err != nil {
		return nil, nil, err
	}
	store, err := storage.Open(ctx, backend, master)
	if err != nil {
		return nil, nil, errors.Join(err, backend.Close())
	}
	return store, backend, nil
}

// deepen adds what takes people, mails or other services to come about, and reads the features.
func (n node) deepen(ctx context.Context, f *released.Facts) error {
	for _, feature := range storage.KnownFeatures() {
		f.Features = append(f.Features, feature.Name)
	}
	f.Guarded = released.Person{Username: "guarded", Password: "Weather-in-August"}
	if err := n.run(ctx, nil, "user", "create", "--username", f.Guarded.Username, "--password",
		f.Guarded.Password); err != nil {
		return err
	}
	s, backend, err := n.open(ctx)
	if err != nil {
		return err
	}
	defer backend.Close()
	for name, add := range records(*f) {
		if err := add(ctx, s, time.Now().UTC().Truncate(time.Second)); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}
