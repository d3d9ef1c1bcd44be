//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/keystile/keystile/internal/test/database"
	"github.com/keystile/keystile/storage/bolt"
	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/postgres"
)

// storeFlags are the flags that lead a new service to its store: none for the file in its data folder, or the address
// of a schema of its own.
func (b *bench) storeFlags(name string) ([]string, error) {
	if b.postgres == "" {
		return nil, nil
	}
	address, err := url.Parse(b.postgres)
	if err != nil {
		return nil, err
	}
	query := address.Query()
	query.Set("schema", "bench_"+strings.ReplaceAll(name, "-", "_"))
	address.RawQuery = query.Encode()
	return []string{"--storage-url", address.String()}, nil
}

// backend opens the store of a service that does not run.
func (s *service) backend() (driver.Backend, error) {
	if s.store == nil {
		return bolt.Open(filepath.Join(s.data, "keystile.db"), bolt.Options{})
	}
	return postgres.Open(context.Background(), s.store[1], postgres.Options{})
}

// size returns the bytes that the store takes: of its file, or of the tables of its schema with their indexes.
func (s *service) size() (float64, error) {
	if s.store == nil {
		info, err := os.Stat(filepath.Join(s.data, "keystile.db"))
		if err != nil {
			return 0, err
		}
		return float64(info.Size()), nil
	}
	dsn, options, err := postgres.ParseURL(s.store[1], postgres.Options{})
	if err != nil {
		return 0, err
	}
	ctx := context.Background()
	c, err := database.Open(ctx, dsn)
	if err != nil {
		return 0, err
	}
	var size float64
	err = c.QueryRow(ctx, "SELECT sum(pg_relation_size(c.oid)) FROM pg_class c "+
		"JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = $1", options.Schema).Scan(&size)
	return size, errors.Join(err, c.Close(ctx))
}

// drop removes the schema of a service that does not run, if it has one.
func (s *service) drop() error {
	if s.store == nil {
		return nil
	}
	dsn, options, err := postgres.ParseURL(s.store[1], postgres.Options{})
	if err != nil {
		return err
	}
	ctx := context.Background()
	c, err := database.Open(ctx, dsn)
	if err != nil {
		return err
	}
	_, err = c.Exec(ctx, fmt.Sprintf("DROP SCHEMA %q CASCADE", options.Schema))
	return errors.Join(err, c.Close(ctx))
}
