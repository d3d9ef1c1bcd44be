package storage_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/keystile/keystile/internal/test/released"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/bolt"
	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/transfer"
)

// others are kinds that are not typed documents: the digest of the master key, which Open checks, and the index
// of the audit trail, which is in a form of its own and is made again where a version does not know it.
var others = []string{"master", "trail"}

// notKept are kinds that the data of the last release does not have, and why.
var notKept = map[string]string{
	"probe":     "it is written where nothing else was for some seconds",
	"heldtools": "what upstreams have changed is held since the version after v0.1.0",
	"declared":  "documents are applied since the version after v0.1.0",
	"applying":  "likewise",
	"group":     "groups are there since the version after v0.1.0",
	"member":    "likewise",
	"groupend":  "likewise",
	"groupmap":  "likewise",
	"issuer":    "issuers are trusted since the version after v0.1.0",
	"epoch": "it is kept where several processes share the store: internal/test/campaigns/upgrade swaps versions " +
		"there",
}

// A record that a release has written is read by every later version, field by field.
func TestRecordOfEveryReleaseIsRead(t *testing.T) {
	versions, err := released.Versions()
	if err != nil {
		t.Fatal(err)
	}
	for _, version := range versions {
		t.Run(version, func(t *testing.T) {
			store, backend := openReleased(t, version)
			found, readers := map[string]int{}, kinds()
			for d := range documents(t, backend) {
				found[d.Kind]++
				if slices.Contains(others, d.Kind) {
					continue
				}
				if k, known := readers[d.Kind]; !known {
					t.Errorf("a document of kind %q is read by nobody", d.Kind)
				} else if err := k.wholly(store, d); err != nil {
					t.Errorf("%s %q: %v", d.Kind, d.ID, err)
				}
			}
			if version != versions[len(versions)-1] {
				return
			}
			for kind := range readers {
				if found[kind] == 0 && notKept[kind] == "" {
					t.Errorf("there is no document of kind %q: have internal/test/campaigns/upgrade make one for the next release, "+
						"and until then say so in notKept", kind)
				}
			}
		})
	}
}

func openReleased(t *testing.T, version string) (*storage.Store, *bolt.Store) {
	t.Helper()
	dir := t.TempDir()
	if err := released.Unpack(version, dir); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(dir, "master.key"))
	if err != nil {
		t.Fatal(err)
	}
	key, err := storage.ParseMasterKey(strings.TrimSpace(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	backend, err := bolt.Open(filepath.Join(dir, "keystile.db"), bolt.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { backend.Close() })
	store, err := storage.Open(t.Context(), backend, key)
	if err != nil {
		t.Fatal(err)
	}
	return store, backend
}

func documents(t *testing.T, from transfer.Adapter) func(yield func(driver.Doc) bool) {
	return func(yield func(driver.Doc) bool) {
		var after []byte
		for {
			rows, err := from.Rows(context.Background(), transfer.Documents, after, transfer.PageRows)
			if err != nil {
				t.Fatal(err)
			}
			for _, row := range rows {
				d, err := row.Doc()
				if err != nil {
					t.Fatal(err)
				}
				if after = row.Key; !yield(d) {
					return
				}
			}
			if len(rows) == 0 {
				return
			}
		}
	}
}
