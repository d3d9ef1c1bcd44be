package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/keystile/keystile/internal/test/database"
	"github.com/keystile/keystile/internal/test/released"
	"github.com/keystile/keystile/internal/test/serving"
)

// olderBinary returns a binary, or builds the one of a tag or commit.
func olderBinary(ctx context.Context, dir, of string) (string, error) {
	if exists(of) {
		return filepath.Abs(of)
	}
	tree, binary := filepath.Join(dir, "tree"), filepath.Join(dir, "older")
	for _, args := range [][]string{
		{"git", "worktree", "add", "--detach", "--quiet", tree, of},
		{"go", "build", "-C", tree, "-o", binary, "./cmd/keystile"},
		{"git", "worktree", "remove", "--force", tree},
	} {
		if out, err := exec.CommandContext(ctx, args[0], args[1:]...).CombinedOutput(); err != nil {
			return "", fmt.Errorf("%v: %w\n%s", args, err, out)
		}
	}
	return binary, nil
}

// swapAll swaps two versions on every storage there is.
func swapAll(ctx context.Context, dir, older, newer string) error {
	storages := map[string]string{"bolt": ""}
	if url := os.Getenv("KEYSTILE_POSTGRES_URL"); url != "" {
		fresh, drop, err := schema(ctx, url, "swap")
		if err != nil {
			return err
		}
		defer drop()
		storages["PostgreSQL"] = fresh
	} else {
		fmt.Println("note: no KEYSTILE_POSTGRES_URL, so PostgreSQL is left out")
	}
	for name, storage := range storages {
		n := node{data: filepath.Join(dir, name), storage: storage}
		if err := swap(ctx, n, older, newer); err != nil {
			return fmt.Errorf("on %s: %w", name, err)
		}
		fmt.Printf("on %s each version reads what the other wrote\n", name)
	}
	return nil
}

// swap has the versions serve one after another from one store. Each is asked for all that was done before.
func swap(ctx context.Context, n node, versions ...string) error {
	var known []released.Facts
	for turn := range 4 {
		n.binary = versions[turn%len(versions)]
		name := []string{"the older version", "the newer version"}[turn%2]
		err := n.serve(ctx, func(c *serving.Client) error {
			for i := range known {
				if err := n.ask(ctx, c, &known[i]); err != nil {
					return fmt.Errorf("it does not know what turn %d left: %w", i+1, err)
				}
			}
			first, err := serving.ReadFirstRun(n.data)
			if err != nil {
				return err
			}
			c.FirstRun = first
			f, err := n.fill(ctx, c, fmt.Sprint(turn+1))
			for i := range known {
				known[i].Calls += charges
			}
			known = append(known, f)
			return err
		})
		if err == nil {
			err = n.standing(ctx, known[0])
		}
		if err != nil {
			return fmt.Errorf("turn %d, %s: %w", turn+1, name, err)
		}
	}
	return nil
}

// schema makes an empty schema on a database, and returns the address that leads to it.
func schema(ctx context.Context, url, name string) (address string, drop func(), err error) {
	c, err := database.Open(ctx, url)
	if err != nil {
		return "", nil, err
	}
	name = fmt.Sprintf("%s_%d", name, os.Getpid())
	if _, err := c.Exec(ctx, "CREATE SCHEMA "+name); err != nil {
		return "", nil, errors.Join(err, c.Close(ctx))
	}
	drop = func() {
		_, _ = c.Exec(context.Background(), "DROP SCHEMA "+name+" CASCADE") // what stays is seen in the database
		_ = c.Close(context.Background())
	}
	return within(url, name), drop, nil
}
