package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/keystile/keystile/internal/test/campaigns/bentclock"
	"github.com/keystile/keystile/internal/test/campaigns/overlay"
	"github.com/keystile/keystile/internal/test/database"
	"github.com/keystile/keystile/internal/test/released"
	"github.com/keystile/keystile/internal/test/serving"
	"github.com/keystile/keystile/storage"
)

// The data of every release opens, and people, tokens, tools, figures and the trail are as they were: an hour
// later, as the clock is set.
func TestDataOfEveryReleaseOpens(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the program and runs it")
	}
	binary, err := bentclock.Build(t.Context(), t.TempDir())
	fatal(t, err)
	versions, err := released.Versions()
	fatal(t, err)
	for _, version := range versions {
		t.Run(version+" on a file", func(t *testing.T) {
			n, f := left(t, binary, version)
			fatal(t, n.serve(t.Context(), asking(t, n, &f)))
			fatal(t, n.standing(t.Context(), f))
			wantReadBack(t, n, f)
		})
		t.Run(version+", its backup", func(t *testing.T) {
			n, f := left(t, binary, version)
			other, err := n.restored(t.Context(), filepath.Join(t.TempDir(), "data"))
			fatal(t, err)
			fatal(t, other.serve(t.Context(), asking(t, other, &f)))
		})
		t.Run(version+" on PostgreSQL", func(t *testing.T) {
			n, f := left(t, binary, version)
			fatal(t, os.Remove(filepath.Join(n.data, "keystile.db")))
			// a database and its nodes have the same time, which is now
			tables := node{binary: binary, data: n.data, storage: restored(t, f)}
			fatal(t, tables.run(t.Context(), nil, "storage", "migrate", "up"))
			fatal(t, tables.standing(t.Context(), f))
			fatal(t, tables.tell(t.Context(), nil, "storage", "copy", "--from", tables.storage, "--to", "bolt:"+n.data))
			fatal(t, n.serve(t.Context(), asking(t, n, &f)))
		})
	}
}

func fatal(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// left puts the data of a release into a folder, and sets the clock to an hour after it was left.
func left(t *testing.T, binary, version string) (node, released.Facts) {
	t.Helper()
	f, err := released.Read(version)
	fatal(t, err)
	n := node{binary: binary, data: filepath.Join(t.TempDir(), "data")}
	fatal(t, os.Mkdir(n.data, 0o700))
	fatal(t, released.Unpack(version, n.data))
	clock, err := bentclock.New(t.TempDir())
	fatal(t, err)
	t.Cleanup(func() { clock.Close() })
	fatal(t, clock.Set(time.Until(f.At.Add(time.Hour))))
	n.env = []string{clock.Variable()}
	return n, f
}

// restored makes the tables of a release, and returns their address.
func restored(t *testing.T, f released.Facts) string {
	t.Helper()
	address := database.URL(t, database.Direct)
	sql, err := released.SQL(f.Version)
	fatal(t, err)
	c := database.Connect(t)
	defer c.Close(context.Background())
	drop := "DROP SCHEMA IF EXISTS " + f.Schema + " CASCADE"
	t.Cleanup(func() { database.Exec(t, drop) })
	for _, text := range []string{drop, sql} {
		if _, err := c.PgConn().Exec(t.Context(), text).ReadAll(); err != nil {
			t.Fatal(err)
		}
	}
	return within(address, f.Schema)
}

func asking(t *testing.T, n node, f *released.Facts) func(*serving.Client) error {
	return func(c *serving.Client) error { return n.ask(t.Context(), c, f) }
}

// wantReadBack demands that the version that left the data opens it again: it refuses what it does not know, by name.
func wantReadBack(t *testing.T, n node, f released.Facts) {
	t.Helper()
	s, backend, err := n.open(t.Context())
	fatal(t, err)
	defer backend.Close()
	has, err := s.Features(t.Context())
	fatal(t, err)
	if len(has) == 0 {
		t.Error("the store lists no features, so nothing is known by them")
	}
	for _, feature := range has {
		if !slices.Contains(f.Features, feature.Name) {
			t.Errorf("opened and used as it was, the store has the feature %q, which %s refuses: write it only once somebody "+
				"uses it", feature.Name, f.Version)
		}
	}
}

// A version that cannot read, or that writes what the one before cannot, is found.
func TestUpgradeFindsWhatBreaksIt(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the program several times and runs it")
	}
	older, err := overlay.Build(t.Context(), t.TempDir())
	fatal(t, err)
	for name, planted := range map[string]struct {
		change    overlay.Change
		complaint string
	}{
		"a field has another name": {
			overlay.Change{File: "storage/people/user.go", Old: "`json:\"role,omitempty\"`", New: "`json:\"rank,omitempty\"`"},
			"turn",
		},
		"a store is marked as newer when it is opened": {
			overlay.Change{File: "storage/internal/document/feature.go",
				Old: "	s.features.note(format{Features: has})\n	return nil\n}",
				New: "	s.features.note(format{Features: has})\n	return RequireFeature(ctx, s, state.Feature{\"planted\", " +
					"\"v9\"})\n}"}, "planted",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			newer, err := overlay.Build(t.Context(), t.TempDir(), planted.change)
			fatal(t, err)
			err = swap(t.Context(), node{data: filepath.Join(t.TempDir(), "data")}, older, newer)
			if err == nil || !strings.Contains(err.Error(), planted.complaint) {
				t.Errorf("it says %v, want a complaint with %q", err, planted.complaint)
			}
		})
	}
}

// Versions of the same sources are exchanged without a word.
func TestVersionsThatBelongTogetherAreSwapped(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the program and runs it")
	}
	binary, err := overlay.Build(t.Context(), t.TempDir())
	fatal(t, err)
	fatal(t, swapAll(t.Context(), t.TempDir(), binary, binary))
}

// The facts of a release name every feature that it knew: what is not there counts as unknown to it.
func TestNewestDataKnowsTheFeaturesOfItsVersion(t *testing.T) {
	versions, err := released.Versions()
	fatal(t, err)
	f, err := released.Read(versions[len(versions)-1])
	fatal(t, err)
	var missing []error
	for _, feature := range storage.KnownFeatures() {
		if !slices.Contains(f.Features, feature.Name) && feature.Since <= f.Version {
			missing = append(missing, errors.New(feature.Name))
		}
	}
	if len(missing) > 0 {
		t.Errorf("%v are said to be since %s or before, and its data does not know them: give them the version to come",
			missing, f.Version)
	}
}
