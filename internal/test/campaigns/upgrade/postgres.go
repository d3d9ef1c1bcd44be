package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/keystile/keystile/internal/test/database"
	"github.com/keystile/keystile/internal/test/pgserver"
	"github.com/keystile/keystile/internal/test/released"
)

// onPostgres copies a data folder into tables, and returns the statements that make them.
func (n node) onPostgres(ctx context.Context, f *released.Facts) (string, error) {
	server := os.Getenv(database.Direct)
	if server == "" {
		return "", errors.New(database.Direct + ` is not set: eval "$(.ci/postgres start DIR)" starts a server`)
	}
	f.Schema = "keystile_" + strings.NewReplacer(".", "_").Replace(f.Version)
	c, err := database.Open(ctx, server)
	if err != nil {
		return "", err
	}
	defer c.Close(ctx)
	defer c.Exec(ctx, "DROP SCHEMA IF EXISTS "+f.Schema+" CASCADE")
	to := within(server, f.Schema)
	if err := n.tell(ctx, nil, "storage", "copy", "--from", "bolt:"+n.data, "--to", to); err != nil {
		return "", err
	}
	if err := c.QueryRow(ctx, "SELECT max(n) FROM "+f.Schema+".migration").Scan(&f.Steps); err != nil {
		return "", err
	}
	dump := exec.CommandContext(ctx, filepath.Join(pgserver.Installed(), "pg_dump"), "--no-owner", "--no-acl", "--inserts",
		"--schema", f.Schema, server)
	out, err := dump.Output()
	if err != nil {
		return "", fmt.Errorf("pg_dump: %w", err)
	}
	var kept []string
	for line := range strings.Lines(string(out)) {
		if !strings.HasPrefix(line, `\`) { // what psql alone understands
			kept = append(kept, line)
		}
	}
	return strings.Join(kept, ""), nil
}

// within is the address of a database with a schema.
func within(address, schema string) string {
	u, err := url.Parse(address)
	if err != nil {
		return address // the database says what is wrong with it
	}
	q := u.Query()
	q.Set("schema", schema)
	u.RawQuery = q.Encode()
	return u.String()
}
